/**
 * Reads the result of a COMPLETED request from its row: its sounds, and the findings, parts and
 * file names of its outputs.
 */

import { stemOf } from '../../../shared/file-name.ts'
import { Finding } from '../../../shared/finding.ts'
import {
  targetNames,
  type Event,
  type OutputName,
  type OutputPart,
  type StoredFile,
} from '../../../shared/messages.ts'
import type { HeardSound } from '../../../shared/heard-sounds.ts'
import { outputLabels, outputName } from '../../../shared/prompt-slug.ts'
import { promptsOfRow } from '../../store/requests.ts'
import type { RequestRow } from '../../store/schema/tables.ts'

export type Outputs = NonNullable<Extract<Event, { type: 'completed' }>['outputs']>

/** Returns the outputs that the engine reported for a COMPLETED separation. */
export const outputsOf = (row: RequestRow): Outputs => JSON.parse(row.outputs ?? '') as Outputs

/**
 * Returns what the engine heard in the media of a COMPLETED request, or undefined if it made no
 * list.
 */
export const soundsOf = ({ sounds }: RequestRow): HeardSound[] | undefined =>
  sounds === null ? undefined : (JSON.parse(sounds) as HeardSound[])

/** Returns the stored finding for each prompt of a COMPLETED separation. */
export function findingsOf(row: RequestRow): { prompt: string; finding: Finding }[] {
  const outputs: Partial<Record<OutputName, StoredFile & Finding>> = outputsOf(row)
  return promptsOfRow(row).map((prompt, i, { length }) => {
    const stored = outputs[targetNames(length)[i]!]!
    const fields = Object.entries(stored).filter(([name]) =>
      Object.hasOwn(Finding.properties, name),
    )
    return { prompt, finding: Object.fromEntries(fields) as Finding }
  })
}

/**
 * Returns a stored part of a COMPLETED request with its file name, or undefined if there is none.
 */
export function storedPart(
  row: RequestRow,
  part: OutputPart,
): (StoredFile & { fileName: string }) | undefined {
  if (row.kind === 'sounds') return undefined
  const outputs: Partial<Record<OutputPart, StoredFile & { video?: StoredFile }>> = outputsOf(row)
  const name = part.replace('_video', '') as OutputName | 'peaks' | 'preview'
  const file = name === part ? outputs[name] : outputs[name]?.video
  if (!file) return undefined
  const label = name === 'peaks' || name === 'preview' ? name : outputLabel(row, name)
  return { ...file, fileName: outputFileName(row.file_name, label, file.extension) }
}

/** Returns the label that distinguishes an output of a COMPLETED request from the others. */
function outputLabel(row: RequestRow, name: OutputName): string {
  const prompts = promptsOfRow(row)
  const findings = findingsOf(row).map(({ finding }) => finding)
  const { targets, residual } = outputLabels(
    prompts,
    findings.map(({ holds }) => holds),
    findings.map(({ asked }) => asked !== undefined),
  )
  return name === 'residual' ? residual : targets[targetNames(prompts.length).indexOf(name)]!
}

/**
 * Returns the file name of an output: the source's name, without folders and without characters
 * that some file systems refuse, and the label.
 */
export function outputFileName(sourceName: string, label: string, extension: string): string {
  const name = sourceName.split(/[/\\]/).at(-1) ?? ''
  const stem = stemOf(name).replace(/[\p{Cc}"*:<>?|]+/gu, '_') || 'audio'
  return outputName(stem, label, extension)
}
