/**
 * Input and output of the tools. The API validates the input, whose fields have the same names
 * there.
 */

import { z } from 'zod'

/** By default, clients abort a call after a minute. */
export const WAIT_SECONDS_MAX = 50

const optionalText = (description: string) => z.string().optional().describe(description)
const requestId = z.string().describe('Such as req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e.')
const waitSeconds = (usual: number) =>
  z
    .number()
    .int()
    .min(0)
    .max(WAIT_SECONDS_MAX)
    .default(usual)
    .describe('Seconds to wait for the result; if it takes longer, continue with get_request.')

const SOURCE = {
  audio_url: optionalText('Public HTTPS URL of audio or video.'),
  file_id: optionalText('The id of an uploaded file; see create_upload.'),
}

/** For a server on the user's machine. */
const PATH = {
  path: optionalText('An audio or video file on this machine, which is uploaded to the service.'),
}

const SEPARATE = {
  prompt: optionalText(
    'The sound to take out, named in plain words, such as "dog barking" or "drums".',
  ),
  prompts: z
    .array(z.string())
    .optional()
    .describe('Several sounds, each with its own output, instead of prompt.'),
  ...SOURCE,
  request_id: optionalText('An earlier request whose output is separated further.'),
  output: z
    .enum(['target', 'residual', 'source'])
    .optional()
    .describe('Which output of request_id: the sound, the rest, or the original media.'),
  output_index: z.number().int().optional().describe('Of several targets, which one; from 0.'),
  acceleration: z
    .enum(['fast', 'balanced', 'quality'])
    .optional()
    .describe('Speed against quality; balanced by default.'),
  output_format: z.enum(['wav', 'mp3', 'flac']).optional().describe('wav by default.'),
  wait_seconds: waitSeconds(WAIT_SECONDS_MAX),
}

const SOUNDS = { ...SOURCE, wait_seconds: waitSeconds(WAIT_SECONDS_MAX) }

/** @param hasFiles whether the tools can access the user's files */
export const separateInput = (hasFiles: boolean) =>
  z.strictObject({ ...SEPARATE, ...((hasFiles ? PATH : {}) as typeof PATH) })

/** @param hasFiles whether the tools can access the user's files */
export const soundsInput = (hasFiles: boolean) =>
  z.strictObject({ ...SOUNDS, ...((hasFiles ? PATH : {}) as typeof PATH) })

export const RequestInput = z.strictObject({ request_id: requestId })
export const GetRequestInput = z.strictObject({
  request_id: requestId,
  wait_seconds: waitSeconds(0),
})
export const DownloadInput = z.strictObject({
  request_id: requestId,
  folder: z.string().describe('Where the files go; the folder is created if it is missing.'),
})
export const UploadInput = z.strictObject({
  file_name: z.string().describe('Such as walk.mp4.'),
  file_size: z.number().int().describe('Bytes, exactly.'),
  content_type: z.string().default('audio/unknown').describe('Such as audio/wav or video/mp4.'),
})

/** Part of every answer; present if the call failed. */
const FAILURE = {
  error: z
    .object({
      code: z.string().describe('Machine-readable, such as INVALID_PARAMETER.'),
      message: z.string(),
      param: optionalText('The field at fault.'),
    })
    .optional(),
  next: optionalText('What to do next.'),
}

const Output = z.object({
  role: z.enum(['target', 'residual']).describe('residual: everything that no prompt took.'),
  prompt: z.string().optional(),
  file_name: z.string(),
  url: z.string().describe('Signed: it needs no key, and expires.'),
  video_url: optionalText('The same with the picture of the source.'),
})

const FindingOutput = z.object({
  prompt: z.string(),
  state: z
    .string()
    .describe(
      'found, similar, unsure, absent, or unknown: a prompt that is not known, whose target ' +
        'holds something else.',
    ),
  message: z.string(),
  suggestions: z.array(z.string()).optional().describe('Not known or not heard: try these.'),
  match: z.number().optional().describe('How probable it is that the sound is there.'),
  quality: optionalText('good, fair or poor: an estimate.'),
})

const SoundOutput = z.object({
  name: z.string().describe('Works as a prompt that separates this sound.'),
  share: z.number().describe('The share of the media in which it is heard.'),
  match: z.number().describe('How probable it is that it is there.'),
  spans: z.array(z.object({ start: z.number(), end: z.number() })).describe('Seconds.'),
})

export const RequestOutput = z.object({
  request_id: z.string().optional(),
  status: z.enum(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED']).optional(),
  progress: z.number().optional(),
  queue_position: z.number().optional(),
  estimated_seconds_left: z.number().optional(),
  duration_seconds: z.number().optional(),
  outputs: z.array(Output).optional(),
  findings: z.array(FindingOutput).optional().describe('One for each prompt.'),
  sounds: z.array(SoundOutput).optional().describe('Heard in the media, the most prominent first.'),
  delete_after: optionalText('The outputs are kept until then.'),
  ...FAILURE,
})

export const ModelsOutput = z.object({
  models: z
    .array(
      z.object({
        name: z.string(),
        summary: z.string(),
        answers: z.string().describe('text: any prompt; stems: prompts that name some of stems.'),
        stems: z.array(z.string()),
        names: z.array(z.string()).optional().describe('Sounds that it knows for certain.'),
        licence: z.string().optional(),
      }),
    )
    .optional(),
  ...FAILURE,
})

export const UploadOutput = z.object({
  file_id: z.string().optional(),
  upload_url: optionalText('Takes the bytes, without an API key.'),
  method: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  curl: optionalText('The command that sends the file.'),
  expires_at: z.string().optional(),
  ...FAILURE,
})

export const DownloadOutput = z.object({
  paths: z.array(z.string()).optional().describe('The files that were written.'),
  ...FAILURE,
})

export type RequestAnswer = z.infer<typeof RequestOutput>
export type SeparateArguments = z.infer<ReturnType<typeof separateInput>>
export type SoundsArguments = z.infer<ReturnType<typeof soundsInput>>
