/** Runs `sounds`, from its command line to its exit code. */

import { existsSync } from 'node:fs'
import { contentTypeOf } from '../../../clients/typescript/content-type.ts'
import {
  ApiError,
  createClient,
  type Client,
  type SoundsResult,
} from '../../../clients/typescript/node.ts'
import { LIMITS } from '../../../shared/separation-options.ts'
import { commandText } from '../command-name.ts'
import { action, command, FLAG, TEXT, UsageError, wholeNumber, type CommandIo } from '../command.ts'
import { isUrl, NO_UTF8, sourcesOf } from '../separate/sources.ts'
import { describe, endsAll, readAccess, SERVICE, SERVICE_HELP } from '../service-access.ts'
import { soundsTable } from './table.ts'

const HELP = `Usage: ${commandText('sounds', '<files, folders, URLs or "patterns"> [options]')}

Lists the sounds in audio or video files, the most prominent first: how much of the file each one
covers, how probable it is, and where it is. To extract a sound, give its name to separate as a
prompt. Nothing is written. Listing costs a tenth of a separation.

  --track NUMBER        the audio track of the media, from 1 (default: the best)
  --json                print a line of JSON for each file, for programs
${SERVICE_HELP}

Ctrl-C, SIGTERM, SIGHUP and a closed pipe cancel the request. The exit code is 0 if all files were
listed, 1 if something failed, 2 if the command line is wrong, and 130 if canceled.
`

const OPTIONS = { track: TEXT, json: FLAG, ...SERVICE }

export const sounds = command({
  help: HELP,
  isCancelable: true,
  describe,
  actions: action({
    operands: ['FILE…'],
    options: OPTIONS,
    async run({ track, json, ...access }, operands, io) {
      const sources = readSources(operands)
      const input =
        track === undefined
          ? {}
          : { audio_track: wholeNumber('--track', track, 1, LIMITS.audioTrackMax) }
      const client = createClient({ ...readAccess(access, io.env), signal: io.signal })
      let failed = 0
      for (const source of sources) {
        const isListed = await list(source, { client, input, json, io })
        if (!isListed) failed += 1
      }
      return failed === 0 ? 0 : 1
    },
  }),
})

/** @throws UsageError */
function readSources(operands: readonly string[]): string[] {
  const sources = [...new Set(operands.flatMap(sourcesOf))]
  if (sources.length === 0) throw new UsageError(`there is no audio or video in ${operands[0]}`)
  for (const source of sources) {
    if (isUrl(source) || existsSync(source)) continue
    if (source.includes('\uFFFD')) throw new UsageError(`${source}: ${NO_UTF8}`)
    throw new UsageError(`there is no file ${source}`)
  }
  return sources
}

interface Listing {
  client: Client
  input: { audio_track?: number }
  json: boolean
  io: CommandIo
}

/**
 * Prints the list for one source; returns false if it failed, after printing why.
 * @throws whatever the next file would meet too; the signal's reason
 */
async function list(source: string, listing: Listing): Promise<boolean> {
  const { json, io } = listing
  try {
    const result = await ask(source, listing)
    const line = JSON.stringify({ source, state: 'listed', ...result })
    io.stdout.write(json ? `${line}\n` : `${soundsTable(source, result.data)}\n`)
    return true
  } catch (error) {
    if (io.signal.aborted || endsAll(error)) throw error
    const problem = describe(error)
    if (json) io.stdout.write(`${JSON.stringify({ source, state: 'failed', error: problem })}\n`)
    else io.stderr.write(`${source}: ${problem}\n`)
    return false
  }
}

/** A request that nobody waits for any more is canceled. */
async function ask(source: string, { client, input }: Listing): Promise<SoundsResult> {
  const media = isUrl(source)
    ? { audio_url: source }
    : { file_id: await client.upload(source, contentTypeOf(source)) }
  const submitted = await client.submitSounds({ input: { ...input, ...media } })
  try {
    return await client.waitForSounds(submitted)
  } catch (error) {
    if (!(error instanceof ApiError)) await client.cancel(submitted).catch(() => {})
    throw error
  }
}
