/** The command line of `separate`, read into what the API takes. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { LIMITS, type AudioSpan, type SeparationOptions } from '../../shared/separation-options.ts'
import type { Submission } from '../../clients/typescript/node.ts'
import { isMedia } from '../../clients/typescript/content-type.ts'
import { called } from '../called.ts'
import { isUrl, splitWords } from './sources.ts'

export const HELP = `Usage: ${called('separate', '<file or https URL> "<prompt>" [options]')}
       ${called('separate', '<files, folders or "patterns"> "<prompt>" "<prompt>" [options]')}

Separates the sound that the prompt describes from any audio or video file, and writes
<name>-<prompt> and <name>-residual beside it (for a URL: into the current folder).

Of several files, into --out, or with several prompts, it writes <name>.<prompt> for each, and
<name>.rest, what no prompt took. A file whose outputs are there is skipped, so that the same
command goes on after an interruption. The words that name files come first, prompts follow.

How to separate
  --acceleration WORD   fast, balanced (default) or quality
  --candidates N        tries of which the best is kept, 1 to 8 (default 1)
  --span START-END      seconds in which the sound is heard, such as 1.5-4; repeatable
  --no-span START-END   seconds in which it is not heard; repeatable
  --predict-spans       let the model find where it is heard
  --max-chunk SECONDS   longest piece taken at once, up to 300 (default 60)
  --track NUMBER        which track of sound in the media, from 1 (default the best)
  --overlap SECONDS     what neighbouring pieces share, 0 to 30 (default 5)

What to write
  --format WORD         wav (default), flac or mp3
  --out FOLDER          where the files go
  --jobs N              of several files, so many at once, 1 to 64 (default 4)
  --logs                print the service's log of each request once it has ended
  --json                print the result as JSON, for programs
  --quiet               print nothing but errors

For servers
  --metadata JSON       an object that webhooks carry back
  --webhook URL         https address that receives the end
  --webhook-secret TEXT signs that message; without it the service makes one, shown once
  --url URL             the service (or WINNOW_URL; default http://127.0.0.1:8080)
  --key KEY             API key (or WINNOW_API_KEY; for a service on this machine also
                        the file api-key in DATA_DIR, by default ./data)

Ctrl-C cancels the request. The exit code is 0 when separated, 1 when it failed, 2 when the
command line is wrong, 130 when canceled.
`

export interface Arguments {
  /** A path, or an http(s) URL. */
  source: string
  isUrl: boolean
  /** All of the submission but the source. */
  submission: Submission
  folder: string | undefined
  baseUrl: string
  apiKey: string | undefined
  logs: boolean
  json: boolean
  quiet: boolean
}

export interface BatchWords {
  /** Paths and URLs, the one of `source` first. */
  sources: readonly string[]
  /** Each once, the one of `submission` first. */
  prompts: readonly string[]
  /** Files at once. */
  jobs: number
  /** Outputs are named after prompts. */
  isBatch: boolean
}

const JOBS = 4
const JOBS_MAX = 64

type Environment = Readonly<Record<string, string | undefined>>

/** The command line is wrong: the message says how. */
export class UsageError extends Error {}

/**
 * Reads the words after the command's name.
 * @returns `help` when that is asked for
 * @throws UsageError
 */
export function readArguments(
  words: readonly string[],
  env: Environment,
): (Arguments & BatchWords) | 'help' {
  const { values, positionals } = parse(words)
  if (values.help) return 'help'
  const { sources, prompts } = splitWords(positionals)
  const [source] = sources
  const [prompt] = prompts
  if (!source || prompt === undefined) {
    throw new UsageError('give files or URLs, and then prompts in quotes (see --help)')
  }
  if (prompts.length > LIMITS.promptsMax) {
    throw new UsageError(`give at most ${LIMITS.promptsMax} prompts, not ${prompts.length}`)
  }
  const missing = prompts.find(isMedia)
  if (missing !== undefined) throw new UsageError(`there is no file ${missing}`)
  if (values.out === undefined && (sources.length > 1 || source !== positionals[0])) {
    throw new UsageError('many files need --out: what lies beside them would be read again')
  }
  const baseUrl = readBaseUrl(values.url ?? env.WINNOW_URL ?? 'http://127.0.0.1:8080')
  return {
    source,
    isUrl: isUrl(source),
    submission: {
      input: { prompt, ...readOptions(values) },
      ...(values.webhook !== undefined && { webhookUrl: values.webhook }),
      ...(values['webhook-secret'] !== undefined && { webhookSecret: values['webhook-secret'] }),
      ...(values.metadata !== undefined && { metadata: readJson(values.metadata) }),
    },
    folder: values.out,
    baseUrl,
    apiKey: values.key ?? env.WINNOW_API_KEY ?? localKey(baseUrl, env),
    logs: values.logs ?? false,
    json: values.json ?? false,
    quiet: values.quiet ?? false,
    sources,
    prompts: [...new Set(prompts)],
    jobs: readJobs(values.jobs),
    // A folder or a pattern is many files, however many lie there.
    isBatch: sources.length > 1 || prompts.length > 1 || source !== positionals[0],
  }
}

function readJobs(text: string | undefined): number {
  const jobs = readNumber('--jobs', text) ?? JOBS
  if (Number.isInteger(jobs) && jobs >= 1 && jobs <= JOBS_MAX) return jobs
  throw new UsageError(`--jobs takes a whole number from 1 to ${JOBS_MAX}, not ${jobs}`)
}

type Values = ReturnType<typeof parse>['values']

function parse(words: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const texts = { type: 'string', multiple: true } as const
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        acceleration: text,
        candidates: text,
        span: texts,
        'no-span': texts,
        'predict-spans': flag,
        'max-chunk': text,
        overlap: text,
        track: text,
        format: text,
        out: text,
        jobs: text,
        logs: flag,
        json: flag,
        quiet: flag,
        metadata: text,
        webhook: text,
        'webhook-secret': text,
        url: text,
        key: text,
        help: { ...flag, short: 'h' },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Only the given options: the service has the defaults and checks the limits. */
function readOptions(values: Values): Partial<SeparationOptions> {
  const spans = [
    ...(values.span ?? []).map((text) => readSpan(text, true)),
    ...(values['no-span'] ?? []).map((text) => readSpan(text, false)),
  ]
  const given = {
    acceleration: values.acceleration,
    output_format: values.format,
    reranking_candidates: readNumber('--candidates', values.candidates),
    max_chunk_duration: readNumber('--max-chunk', values['max-chunk']),
    chunk_overlap: readNumber('--overlap', values.overlap),
    audio_track: readNumber('--track', values.track),
    predict_spans: values['predict-spans'],
    spans: spans.length > 0 ? spans : undefined,
  }
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries)
}

function readNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (text.trim() !== '' && Number.isFinite(number)) return number
  throw new UsageError(`${name} takes a number, not "${text}"`)
}

function readSpan(text: string, include: boolean): AudioSpan {
  const [, start, end] = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (start !== undefined) return { start: Number(start), end: Number(end), include }
  throw new UsageError(`a span has the form START-END in seconds, such as 1.5-4, not "${text}"`)
}

/** The service refuses it when it is not an object. */
function readJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    throw new UsageError(`--metadata takes a JSON object, not "${text}"`)
  }
}

function readBaseUrl(text: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  throw new UsageError(`the service's address must be an http or https URL, not "${text}"`)
}

/** The key that `npm start` left here; it goes to no other machine than this one. */
function localKey(baseUrl: string, env: Environment): string | undefined {
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname)) return undefined
  try {
    return readFileSync(join(env.DATA_DIR || 'data', 'api-key'), 'utf8').trim() || undefined
  } catch {
    return undefined // no such file: the service will say that a key is missing
  }
}
