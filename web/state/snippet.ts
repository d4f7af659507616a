/** Shows the request in the form as code: one call that waits, and the download. */

import { formOptions, filledPrompts, inputOf, type RequestOptions, type Source } from './draft.ts'
import { SERVICE } from './service.ts'

export const LANGUAGES = ['curl', 'TypeScript', 'Python', 'Command line'] as const

export type Language = (typeof LANGUAGES)[number]

export function snippet(language: Language, source: Source): string {
  const makers = { curl, TypeScript: typeScript, Python: python, 'Command line': commandLine }
  const filled = filledPrompts()
  const prompts = filled.length > 0 ? filled : ['piano']
  return makers[language]({ source, prompts, options: formOptions() })
}

interface Parts {
  source: Source
  prompts: string[]
  options: RequestOptions
}

type Value = string | number | boolean | object

const optionsOf = ({ options }: Parts) =>
  Object.entries(options).filter(([, value]) => value !== undefined) as [string, Value][]

/** The `input` of a submit, of media that the service has or fetches. */
const inputIn = (source: Exclude<Source, { kind: 'file' }>) =>
  inputOf(source.kind === 'output' ? source.place : { audio_url: source.url })

/** Quotes text for a shell. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Escapes a name for a form field of curl. */
const escaped = (name: string): string => name.replace(/["\\]/g, '\\$&')

/** Saves all files of the result under their names. */
function curl(parts: Parts): string {
  const { source, prompts } = parts
  const fields = [...prompts.map((prompt) => ['prompt', prompt] as const), ...optionsOf(parts)]
  const body =
    source.kind === 'file'
      ? [
          ...fields.map(([name, value]) => {
            const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
            return `--form-string ${quote(`${name}=${text}`)}`
          }),
          `-F ${quote(`file=@"${escaped(source.name)}";type=${source.contentType}`)}`,
        ]
      : [
          "-H 'content-type: application/json'",
          `-d ${quote(JSON.stringify({ input: inputIn(source) }))}`,
        ]
  return [
    '# result.json says what was found; after 60 s it names the result_url to ask later.',
    [
      `curl -s ${SERVICE}/v1/audio/separate -H "Authorization: Bearer $WINNOW_API_KEY"`,
      ...["-H 'Prefer: wait=60'", ...body, '-o result.json'],
    ].join(' \\\n  '),
    `grep -o '"url":"[^"]*"' result.json | cut -d '"' -f 4 | sort -u |`,
    '  while read -r url; do curl -sOJ "$url"; done',
  ].join('\n')
}

function typeScript(parts: Parts): string {
  const { source, prompts } = parts
  const options = optionsOf(parts).length > 0 ? `, { input: ${json(parts.options)} }` : ''
  const call =
    source.kind === 'file'
      ? `client.separate(${json(source.name)}, ${json(prompts)}${options})`
      : `client.wait(await client.submit({ input: ${json(inputIn(source))} }))`
  return [
    "import { createClient } from 'winnow-client/node'",
    '',
    `const client = createClient({ baseUrl: '${SERVICE}', apiKey: process.env.WINNOW_API_KEY })`,
    `const { data } = await ${call}`,
    'for (const { url, file_name } of data.targets ?? [data.target]) {',
    '  await client.download(url, file_name)',
    '}',
  ].join('\n')
}

const json = (value: unknown): string => JSON.stringify(value)

function python(parts: Parts): string {
  const { source, prompts } = parts
  const options = optionsOf(parts).length > 0 ? `, {"input": ${pythonOf(parts.options)}}` : ''
  const call =
    source.kind === 'file'
      ? `client.separate(${json(source.name)}, ${json(prompts)}${options})`
      : `client.wait(client.submit({"input": ${pythonOf(inputIn(source))}}))`
  return [
    'import os',
    'from winnow_client import Client',
    '',
    `client = Client("${SERVICE}", os.environ["WINNOW_API_KEY"])`,
    `data = ${call}["data"]`,
    'for target in data.get("targets", [data["target"]]):',
    '    client.download(target["url"], target["file_name"])',
  ].join('\n')
}

/** A value as Python writes it. */
function pythonOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return json(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([name, field]) => `${json(name)}: ${pythonOf(field)}`).join(', ')}}`
}

/** Words of the command line for fields that are named otherwise there. */
const WORDS: Readonly<Record<string, string>> = {
  output_format: 'format',
  reranking_candidates: 'candidates',
  max_chunk_duration: 'max-chunk',
  chunk_overlap: 'overlap',
  audio_track: 'track',
  predict_spans: 'predict-spans',
}

function commandLine(parts: Parts): string {
  const { source, prompts, options } = parts
  if (source.kind === 'output')
    return '# winnow separate takes files and addresses: save this first.'
  const { spans = [], ...others } = options
  const media = source.kind === 'file' ? source.name : source.url
  const words = optionsOf({ ...parts, options: others }).map(([name, value]) => {
    const word = `--${WORDS[name] ?? name}`
    return value === true ? word : `${word} ${quote(json(value).replaceAll('"', ''))}`
  })
  const where = spans.map(
    ({ start, end, include }) => `--${include ? 'span' : 'no-span'} ${start}-${end}`,
  )
  return [
    '# reads the key from WINNOW_API_KEY',
    [
      'winnow separate',
      ...[media, ...prompts].map(quote),
      ...words,
      ...where,
      `--url ${SERVICE}`,
    ].join(' '),
  ].join('\n')
}
