/** Shows users who know that a sound is there how to say so: the same command with a span. */

import type { Client, Result } from '../../../clients/typescript/node.ts'
import { vouchingsOf, type VouchedSeparation } from '../../../shared/vouching.ts'
import { commandText } from '../command-name.ts'
import { shellWord } from '../../../shared/shell-word.ts'
import type { Arguments } from './arguments.ts'
import { separatorsOf } from './separator.ts'
import { PIPE } from './sources.ts'

/** Returns lines with a command each; none if a span already includes a sound. */
export async function vouchingLines(
  client: Pick<Client, 'models'>,
  args: Arguments,
  source: string,
  { data: { findings = [], duration } }: Result,
): Promise<string[]> {
  const { prompts, submission, task } = args
  const isVouchedFor = submission.input.spans?.some(({ include = true }) => include)
  if (args.quiet || isVouchedFor || duration === undefined) return []
  if (findings.every(({ state }) => state === 'found')) return []
  const models = await separatorsOf(client)
  const heedsSpans = (separator: string | undefined) =>
    models.find(({ name }) => name === separator)?.answers !== 'stems'
  const keeps = task?.keeps ?? 'target'
  const word = args.sources.includes(PIPE) ? PIPE : source
  return vouchingsOf({ findings, prompts, keeps, heedsSpans }).map((vouching) => {
    const span = `0-${Math.ceil(duration)}`
    const words = [word, ...vouching.prompts, ...args.optionWords, '--span', span]
    if (!words.includes('--force')) words.push('--force')
    return `${textOf(vouching)}: ${commandText('separate', words.map(shellWord).join(' '))}`
  })
}

function textOf({ does, sounds, softenedDb }: VouchedSeparation): string {
  const names = sounds.map((sound) => `"${sound}"`).join(' and ')
  const isThere = sounds.length === 1 ? 'is there' : 'are there'
  if (does === 'keep') return `If ${names} ${isThere}, this keeps it ${softenedDb} dB louder`
  return `If ${names} ${isThere}, this takes out more (best with its own times as --span)`
}
