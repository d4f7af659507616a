/** Parses the command line of `separate` into what the API takes. */

import { existsSync } from 'node:fs'
import { Value } from 'typebox/value'
import { LIMITS, SeparationOptions, type AudioSpan } from '../../../shared/separation-options.ts'
import { PRIORITIES } from '../../../shared/priority.ts'
import { metadataOf, sideOf } from '../../../shared/tasks.ts'
import type { Submission } from '../../../clients/typescript/node.ts'
import { isMedia } from '../../../clients/typescript/content-type.ts'
import { isDeeperThan } from '../../../gateway/api/json-text.ts'
import { commandText } from '../command-name.ts'
import { FLAG, oneOf, TEXT, TEXTS, UsageError, wholeNumber, type Action } from '../command.ts'
import { readAccess, SERVICE, SERVICE_HELP, type Environment } from '../service-access.ts'
import type { Arguments } from './arguments.ts'
import { isUrl, namesMedia, NO_UTF8, parseOperands, PIPE } from './sources.ts'
import { shellWord } from '../../../shared/shell-word.ts'
import { readTask } from './task.ts'

const WORDS = '<files, folders, URLs or "patterns"> "<prompt>" … [options]'

export const HELP = `Usage: ${commandText('separate', WORDS)}

Separates the sounds that the prompts describe from audio or video files. For each file, it writes
<name>.<prompt> and <name>.rest.without-<prompts>, which is everything else, next to the file (for a
URL: to the current folder, with 8 digits that identify the URL after the name). If the model
doesn't know a prompt, the target is named after what it contains. Give the files first, then the
prompts. With -, media is read from standard input, and the sound is written to standard output.

Nothing is overwritten. A file whose outputs all exist is skipped, so the same command continues
after an interruption; if the file is newer than its outputs, the command says so. When you give
several files, outputs of earlier runs are not separated again.

How to separate
  --task WORD           speech, remove, song or dialogue: a task of the page, which chooses prompts
                        (except remove) and format unless you do; remove with - writes the rest
  --acceleration WORD   fast, balanced (default) or quality
  --candidates N        separate N times and keep the best, 1 to 8 (default 1)
  --span START-END      a range with the sound, in seconds, such as 1.5-4; repeatable
  --no-span START-END   a range without the sound; repeatable
  --predict-spans       let the model find the ranges with the sound
  --separator NAME      the model for all prompts, such as htdemucs (default auto: the words of each
                        prompt decide)
  --max-chunk SECONDS   the longest chunk processed at once, up to 300 (default 60)
  --track NUMBER        the audio track of the media, from 1 (default: the best)
  --overlap SECONDS     the overlap of neighbouring chunks, 0 to 30 (default 5)

What to write
  --format WORD         wav (default), flac or mp3
  --out FOLDER          the folder for the outputs
  --force               overwrite existing files
  --jobs N              how many files to separate at the same time, 1 to 64 (default 4)
  --strict              exit with 3 if a sound was not found with certainty, or if a skipped file is
                        newer than its outputs; for a skipped file, only the names of its outputs
                        show that a prompt was unknown
  --logs                print the service's log of each request when it ends
  --json                print a line of JSON for each file, for programs
  --quiet               print only warnings and errors

For servers
  --priority WORD       interactive, or batch to let others go first (default: the highest that the
                        account may have)
  --metadata JSON       an object that is included in webhooks
  --webhook URL         an https URL to notify when a request ends
  --webhook-secret TEXT the secret that signs webhooks; by default the service generates one, which
                        is shown once
${SERVICE_HELP}

Ctrl-C, SIGTERM, SIGHUP and a closed pipe cancel the requests. The exit code is 0 if everything was
separated, 1 if something failed, 2 if the command line is wrong, 3 because of --strict, and 130 if
canceled.
`

const JOBS = '4'
const JOBS_MAX = 64

/** @throws UsageError */
export function readArguments(
  values: Values,
  operands: readonly string[],
  env: Environment,
): Arguments {
  const { prompts, ...named } = parseOperands(operands)
  const task = readTask(values.task)
  assertOrder(operands, named.sources)
  if (named.sources.length === 0 || (prompts.length === 0 && !task)) {
    const [first = ''] = operands
    if (named.unnameable.length > 0) throw new UsageError(`${first}: ${NO_UTF8}`)
    if (named.sources.length === 0 && first !== '') {
      throw new UsageError(`there is no audio or video in ${first}`)
    }
    throw new UsageError('give files or URLs, and then prompts in quotes (see --help)')
  }
  assertThere([...named.sources, ...prompts.filter(isMedia)])
  assertPrompts(prompts)
  const options = { ...values, format: values.format ?? task?.format }
  return {
    ...named,
    prompts: [...new Set(prompts)],
    task,
    optionWords: wordsOf(values),
    submission: {
      ...(task && metadataOf(task)),
      input: { ...readOptions(options), ...(task && sideOf(task)) },
      ...readWebhook(values),
    },
    folder: values.out,
    extension: options.format ?? 'wav',
    jobs: wholeNumber('--jobs', values.jobs, 1, JOBS_MAX),
    ...readAccess(values, env),
    force: values.force,
    strict: values.strict,
    logs: values.logs,
    json: values.json,
    quiet: values.quiet,
  }
}

/** @throws UsageError if prompts come first and files after them */
function assertOrder(operands: readonly string[], sources: readonly string[]): void {
  const [first = ''] = operands
  if (sources[0] !== first || isThere(first) || isMedia(first)) return
  const files = operands.filter(namesMedia)
  if (files.length === 0) return
  const prompts = operands.filter((word) => !files.includes(word))
  const meant = commandText('separate', [...files, ...prompts].map(shellWord).join(' '))
  throw new UsageError(`there is no file ${first}; if it is a prompt, files come first: ${meant}`)
}

const isThere = (source: string): boolean => source === PIPE || isUrl(source) || existsSync(source)

function assertThere(sources: readonly string[]): void {
  const missing = sources.find((source) => !isThere(source))
  if (missing !== undefined) throw new UsageError(`there is no file ${missing}`)
}

function assertPrompts(prompts: readonly string[]): void {
  const { promptsMax, promptCharactersMax } = LIMITS
  if (prompts.length > promptsMax) {
    throw new UsageError(`give at most ${promptsMax} prompts, not ${prompts.length}`)
  }
  for (const prompt of prompts) {
    const length = [...prompt.trim()].length
    if (length >= 1 && length <= promptCharactersMax) continue
    throw new UsageError(`a prompt has 1 to ${promptCharactersMax} characters, not ${length}`)
  }
}

type Values = Parameters<Action<typeof OPTIONS>['run']>[0]

export const OPTIONS = {
  task: TEXT,
  acceleration: TEXT,
  candidates: TEXT,
  span: TEXTS,
  'no-span': TEXTS,
  'predict-spans': FLAG,
  'max-chunk': TEXT,
  overlap: TEXT,
  track: TEXT,
  separator: TEXT,
  format: TEXT,
  out: TEXT,
  force: FLAG,
  jobs: { ...TEXT, default: JOBS },
  strict: FLAG,
  logs: FLAG,
  json: FLAG,
  quiet: FLAG,
  priority: TEXT,
  metadata: TEXT,
  webhook: TEXT,
  'webhook-secret': TEXT,
  ...SERVICE,
} as const

/** Placeholders shown instead of secrets. */
const SECRETS: Partial<Record<keyof Values, string>> = { key: 'KEY', 'webhook-secret': 'TEXT' }

function wordsOf(values: Values): string[] {
  const names = Object.keys(OPTIONS) as (keyof Values & keyof typeof OPTIONS)[]
  return names.flatMap((name) => {
    const { [name]: value } = values
    const { default: usual } = OPTIONS[name] as { default?: string | boolean }
    if (value === undefined || value === usual) return []
    if (value === true) return [`--${name}`]
    return [value].flat().flatMap((text) => [`--${name}`, SECRETS[name] ?? String(text)])
  })
}

/** Only the options that were given; the service has the defaults. */
function readOptions(values: Values): Submission['input'] {
  const spans = [
    ...(values.span ?? []).map((text) => readSpan(text, true)),
    ...(values['no-span'] ?? []).map((text) => readSpan(text, false)),
  ]
  if (spans.length > LIMITS.spansMax) {
    throw new UsageError(`give at most ${LIMITS.spansMax} spans, not ${spans.length}`)
  }
  const chosen = {
    acceleration: checked('acceleration', '--acceleration', values.acceleration),
    output_format: checked('output_format', '--format', values.format),
    reranking_candidates: checkedNumber('reranking_candidates', '--candidates', values.candidates),
    max_chunk_duration: checkedNumber('max_chunk_duration', '--max-chunk', values['max-chunk']),
    chunk_overlap: checkedNumber('chunk_overlap', '--overlap', values.overlap),
    audio_track: checkedNumber('audio_track', '--track', values.track),
    separator: readSeparator(values.separator),
    predict_spans: values['predict-spans'] || undefined,
    spans: spans.length > 0 ? spans : undefined,
  }
  const entries = Object.entries(chosen).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries)
}

function readSeparator(name: string | undefined): string | undefined {
  if (name === undefined || Value.Check(SeparationOptions.properties.separator, name)) return name
  throw new UsageError(`--separator takes auto or the name of a model, such as mini, not "${name}"`)
}

type OptionName = keyof SeparationOptions

const checkedNumber = (name: OptionName, option: string, text: string | undefined) =>
  checked(name, option, readNumber(option, text))

/** Checks `value` as the service would, so that it is refused before anything is uploaded. */
function checked<T extends string | number | undefined>(
  name: OptionName,
  option: string,
  value: T,
): T {
  const schema: { enum?: string[]; minimum?: number; maximum?: number; type?: string } =
    SeparationOptions.properties[name]
  if (value === undefined || Value.Check(SeparationOptions.properties[name], value)) return value
  const { enum: choices, minimum = 0, maximum } = schema
  if (choices) return oneOf(option, String(value), choices) as T
  const kind = schema.type === 'integer' ? 'a whole number' : 'a number'
  throw new UsageError(`${option} takes ${kind} from ${minimum} to ${maximum}, not ${value}`)
}

function readNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (text.trim() !== '' && Number.isFinite(number)) return number
  throw new UsageError(`${name} takes a number, not "${text}"`)
}

function readSpan(text: string, include: boolean): AudioSpan {
  const [, start, end] = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (start === undefined) {
    throw new UsageError(`a span has the form START-END in seconds, such as 1.5-4, not "${text}"`)
  }
  if (Number(end) > Number(start)) return { start: Number(start), end: Number(end), include }
  throw new UsageError(`a span ends after its start, not "${text}"`)
}

function readWebhook(values: Values): Omit<Submission, 'input'> {
  const { webhook, 'webhook-secret': secret, metadata } = values
  const priority = oneOf('--priority', values.priority, PRIORITIES)
  if (webhook !== undefined && !(/^https?:/i.test(webhook) && URL.canParse(webhook))) {
    throw new UsageError(`--webhook takes an https URL, not "${webhook}"`)
  }
  const { webhookSecretCharactersMin: least, webhookSecretCharactersMax: most } = LIMITS
  if (secret !== undefined && (secret.length < least || secret.length > most)) {
    throw new UsageError(`--webhook-secret takes ${least} to ${most} characters`)
  }
  return {
    ...(priority !== undefined && { priority }),
    ...(webhook !== undefined && { webhookUrl: webhook }),
    ...(secret !== undefined && { webhookSecret: secret }),
    ...(metadata !== undefined && { metadata: readObject(metadata) }),
  }
}

function readObject(text: string): Record<string, unknown> {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`--metadata takes a JSON object, not "${text}"`)
  }
  const { metadataBytesMax: bytesMax, metadataDepthMax: depthMax } = LIMITS
  const isTooLarge = Buffer.byteLength(JSON.stringify(value)) > bytesMax
  if (isTooLarge || isDeeperThan(depthMax, value)) {
    throw new UsageError(`--metadata takes up to ${bytesMax} bytes and ${depthMax} levels of JSON`)
  }
  return value as Record<string, unknown>
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
