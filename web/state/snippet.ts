/** Shows the request in the form as code. */

import { inputOf, type Place, type Source } from './draft.ts'
import { SERVICE } from './service.ts'

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const

export type Language = (typeof LANGUAGES)[number]

export function snippet(language: Language, chosen: Source): string {
  const file = chosen.kind === 'file' ? chosen : null
  const parts = { input: inputOf(placeOf(chosen)), file, api: SERVICE }
  return { curl, TypeScript: typeScript, Python: python }[language](parts)
}

function placeOf(chosen: Source): Place {
  if (chosen.kind === 'file') return { file_id: '<file_id>' }
  return chosen.kind === 'output' ? chosen.place : { audio_url: chosen.url }
}

interface Parts {
  input: ReturnType<typeof inputOf>
  /** Null if the service has the media or fetches it. */
  file: { name: string; contentType: string; bytes: Blob } | null
  api: string
}

/** Quotes text for a shell. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function curl({ input, file, api }: Parts): string {
  const json = `-H "Authorization: Bearer $WINNOW_API_KEY" -H 'content-type: application/json'`
  const submission = quote(JSON.stringify({ input }))
  const submit = `curl -s ${api}/v1/queue/audio/separate ${json} \\\n  -d `
  if (!file) return submit + submission
  const { name, contentType, bytes } = file
  const place = quote(
    JSON.stringify({
      file_name: name,
      content_type: contentType,
      file_size: bytes.size,
      purpose: 'audio.separate.input',
    }),
  )
  const type = quote(`content-type: ${contentType}`)
  return [
    `field() { sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/"; }  # of the JSON that comes in`,
    `place=$(curl -s ${api}/v1/files ${json} \\\n  -d ${place})`,
    `curl -s -T ${quote(name)} -H ${type} "$(echo "$place" | field upload_url)"`,
    submit + submission.replace('<file_id>', `'"$(echo "$place" | field file_id)"'`),
  ].join('\n')
}

function typeScript({ input, file, api }: Parts): string {
  const lines = [
    "import { createClient } from 'winnow-client/node'",
    '',
    `const client = createClient({ baseUrl: '${api}', apiKey: process.env.WINNOW_API_KEY })`,
    ...(file
      ? [`const file_id = await client.upload(${JSON.stringify(file.name)}, '${file.contentType}')`]
      : []),
    `const input = ${JSON.stringify(input, null, 2).replace('"file_id": "<file_id>"', 'file_id')}`,
    'const request = await client.submit({ input })',
    'const { data } = await client.wait(request)',
    'prompts' in input
      ? 'for (const { url, file_name } of data.targets) await client.download(url, file_name)'
      : 'await client.download(data.target.url, data.target.file_name)',
  ]
  return lines.join('\n')
}

/** Formats a value for Python; the id of an uploaded file becomes `file_id`. */
function pythonOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, field]) => {
    const text = name === 'file_id' ? 'file_id' : pythonOf(field)
    return `${JSON.stringify(name)}: ${text}`
  })
  return `{${fields.join(', ')}}`
}

function python({ input, file, api }: Parts): string {
  const lines = [
    'import os',
    'from winnow_client import Client',
    '',
    `client = Client("${api}", os.environ["WINNOW_API_KEY"])`,
    ...(file
      ? [`file_id = client.upload(${JSON.stringify(file.name)}, "${file.contentType}")`]
      : []),
    `request = client.submit({"input": ${pythonOf(input)}})`,
    'data = client.wait(request)["data"]',
    ...('prompts' in input
      ? [
          'for target in data["targets"]:',
          '    client.download(target["url"], target["file_name"])',
        ]
      : ['client.download(data["target"]["url"], data["target"]["file_name"])']),
  ]
  return lines.join('\n')
}
