/**
 * Descriptions, examples and rules between fields for the components of the API description, by the
 * title of the schema. A test validates each example.
 */

const REQUEST_ID = 'req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e'
const FILE_ID = 'file_0a1b2c3d4e5f60718293a4b5c6d7e8f9'
const BASE = `https://winnow.example/v1/queue/requests/${REQUEST_ID}`
const MEDIA = `https://winnow.example/media/outputs/${REQUEST_ID}`
const SIGNATURE = 'expires=1767927845678&signature=3f1c'
const CREATED_AT = '2026-01-02T03:04:05.678Z'
const LATER = '2026-01-02T03:04:17.012Z'
const WEEK_LATER = '2026-01-09T03:04:17.012Z'

export interface Note {
  description: string
  example?: object
  /** Keywords that are checked by hand instead, for better messages. */
  rules?: object
}

const SUBMISSION = {
  input: {
    prompt: 'dog barking',
    file_id: FILE_ID,
    acceleration: 'balanced',
    output_format: 'wav',
    spans: [{ start: 1.5, end: 4, include: true }],
  },
  metadata: { order: 17 },
}

const STATUS = {
  request_id: REQUEST_ID,
  model: 'audio/separate',
  status: 'IN_PROGRESS',
  created_at: CREATED_AT,
  updated_at: LATER,
  result_url: `${BASE}/result`,
  progress: 0.4,
}
const LISTED = { ...STATUS, prompt: 'dog barking', file_name: 'walk.mp4' }

const DATA = {
  target: {
    url: `${MEDIA}/target?${SIGNATURE}`,
    content_type: 'audio/wav',
    file_name: 'walk.dog-barking.wav',
  },
  residual: {
    url: `${MEDIA}/residual?${SIGNATURE}`,
    content_type: 'audio/wav',
    file_name: 'walk.rest.without-dog-barking.wav',
  },
  duration: 12.5,
  sample_rate: 48_000,
  gain_db: 0,
  match: 0.97,
  understood_as: 'dog',
  findings: [
    {
      prompt: 'dog barking',
      match: 0.97,
      understood_as: 'dog',
      state: 'found',
      where: [{ start: 2, end: 4.5 }],
      share: 0.2,
      asked: [{ sound: 'dog', excluded: false, state: 'found' }],
      message: '"dog barking", taken for "dog", was found (match 97 %).',
    },
  ],
}

const SOURCE_RULES = {
  oneOf: ['audio_url', 'file_id', 'request_id'].map((source) => ({ required: [source] })),
  dependentRequired: { request_id: ['output'], output: ['request_id'] },
}

const SOUND = { name: 'dog', spans: [{ start: 1.5, end: 4 }], share: 0.2, match: 0.97 }
const SOUNDS_DATA = { sounds: [SOUND], duration: 12.5 }

const SHARE = {
  share_id: 'share_7d865e959b2466918c9863afca942d0f',
  request_id: REQUEST_ID,
  created_at: LATER,
  expires_at: '2026-01-04T03:04:17.012Z',
}

export const NOTES: Readonly<Record<string, Note>> = {
  ErrorResponse: {
    description: 'The form of every error.',
    example: {
      error: {
        code: 'INVALID_PARAMETER',
        message: "input.spans[2].end must be greater than the span's start.",
        param: 'input.spans[2].end',
      },
    },
  },
  ModelList: {
    description:
      'The one API model, the engines that serve it now, and the models that they ' +
      'have loaded.',
  },
  File: {
    description:
      'A file. Its status is `pending` until its bytes have arrived, then `uploaded`, and ' +
      '`expired` after `expires_at`.',
    example: {
      file_id: FILE_ID,
      file_name: 'walk.wav',
      content_type: 'audio/wav',
      file_size: 2_400_044,
      purpose: 'audio.separate.input',
      status: 'uploaded',
      created_at: CREATED_AT,
      uploaded_at: LATER,
      expires_at: '2026-01-03T03:04:17.012Z',
    },
  },
  CreateFileRequest: {
    description: 'Describes a file whose bytes are sent afterwards.',
    example: {
      file_name: 'walk.wav',
      content_type: 'audio/wav',
      file_size: 2_400_044,
      purpose: 'audio.separate.input',
    },
  },
  CreateFileResponse: {
    description:
      'Where to send the bytes: use `upload_method` on `upload_url` with `headers` before ' +
      '`expires_at`. The address needs no API key.',
    example: {
      file_id: FILE_ID,
      upload_url: `https://winnow.example/media/inputs/${FILE_ID}?size=2400044&${SIGNATURE}`,
      upload_method: 'PUT',
      headers: { 'content-type': 'audio/wav' },
      expires_at: '2026-01-02T04:04:05.678Z',
      retention: { delete_after: '2026-01-03T03:04:05.678Z' },
    },
  },
  AudioSpan: { description: 'A time range in which the target is present, or absent.' },
  AudioSeparateInput: {
    description: 'What to separate from what, and how. Unknown fields are refused.',
    example: SUBMISSION.input,
    rules: SOURCE_RULES,
  },
  AudioSoundsInput: {
    description: 'The media to list the sounds of. Unknown fields are refused.',
    example: { file_id: FILE_ID },
    rules: SOURCE_RULES,
  },
  SubmitAudioSoundsRequest: {
    description:
      'A request for a list of sounds. Unknown fields are ignored here, but not in `input`.',
    example: { input: { file_id: FILE_ID }, metadata: { order: 17 } },
  },
  HeardSound: {
    description: 'A sound in the media, where it is, and how certain that is.',
    example: SOUND,
  },
  SoundsData: { description: 'The sounds in the media.', example: SOUNDS_DATA },
  SoundsResultResponse: {
    description: 'A completed list of sounds. It produces no media.',
    example: {
      request_id: REQUEST_ID,
      model: 'audio/sounds',
      status: 'COMPLETED',
      data: SOUNDS_DATA,
      usage: { feature: 'audio_seconds', quantity: 2, billing_status: 'deducted' },
      retention: { delete_after: WEEK_LATER },
    },
  },
  SoundsCompletedEvent: { description: 'The webhook of a completed list of sounds.' },
  SoundsFailedEvent: { description: 'The webhook of a failed list of sounds.' },
  SubmitAudioSeparateRequest: {
    description: 'A request for a separation. Unknown fields are ignored here, but not in `input`.',
    example: SUBMISSION,
  },
  QueueSubmitResponse: {
    description: 'The request is queued, and will end as `COMPLETED` or `FAILED`.',
    example: {
      request_id: REQUEST_ID,
      status: 'IN_QUEUE',
      model: 'audio/separate',
      created_at: CREATED_AT,
      status_url: `${BASE}/status`,
      stream_url: `${BASE}/status/stream`,
      result_url: `${BASE}/result`,
    },
  },
  QueueStatusResponse: {
    description:
      'The status of a request. `COMPLETED` and `FAILED` are final. `progress`, `queue_position` ' +
      'and `error` are extensions of the specification.',
    example: STATUS,
  },
  RequestList: {
    description: 'A page of requests, newest first.',
    example: { object: 'list', data: [LISTED], next_cursor: null },
  },
  FileList: {
    description: 'A page of files, newest first.',
    example: { object: 'list', data: [], next_cursor: null },
  },
  DeliveryAttemptList: {
    description: 'The attempts to deliver a webhook, oldest first.',
    example: {
      object: 'list',
      data: [{ started_at: LATER, duration_ms: 87, status_code: 204, error: null }],
    },
  },
  WebhookTestRequest: {
    description: 'A webhook receiver, and the secret that signs the event.',
    example: {
      webhookUrl: 'https://hooks.example/winnow',
      webhookSecret: 'sixteen characters or more',
    },
  },
  WebhookTestResult: {
    description: 'The outcome of the attempt.',
    example: {
      webhook_id: 'msg_2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e5f',
      delivered: true,
      status_code: 204,
      error: null,
      duration_ms: 87,
    },
  },
  Usage: {
    description: 'The usage of an account, by day.',
    example: {
      object: 'list',
      from: '2026-01-01',
      to: '2026-01-30',
      data: [{ day: '2026-01-02', completed: 3, failed: 1, audio_seconds: 512 }],
    },
  },
  ListedRequest: {
    description:
      'The status of a request, with its prompt, its file and how long its outputs are kept.',
    example: LISTED,
  },
  Finding: {
    description:
      'What was found out about a prompt. Unless `state` is `found`, tell the user; `message` is ' +
      'a text for that.',
    example: {
      prompt: 'lawn mower',
      understood_as: null,
      state: 'unknown',
      softened_db: 0,
      holds: 'everything but speech',
      nearest: ['helicopter', 'motorcycle', 'vacuum cleaner'],
      message:
        'The model does not know "lawn mower": its target holds everything but speech ' +
        'instead. The nearest names to try: "helicopter", "motorcycle", "vacuum cleaner".',
    },
  },
  OutputFile: {
    description:
      'The addresses are signed: they need no API key, accept `Range`, and are valid until ' +
      '`retention.delete_after`.',
    example: DATA.target,
  },
  SeparationData: { description: 'The two outputs, which add up to the input.', example: DATA },
  QueueResultResponse: {
    description: 'The outputs of a completed request.',
    example: {
      request_id: REQUEST_ID,
      model: 'audio/separate',
      status: 'COMPLETED',
      data: DATA,
      usage: { feature: 'audio_seconds', quantity: 13, billing_status: 'not_metered' },
      retention: { delete_after: WEEK_LATER },
    },
  },
  CreateShareRequest: {
    description: 'How long the address is valid.',
    example: { expires_in: 172_800 },
  },
  Share: { description: 'An address that plays one result without a key.', example: SHARE },
  NewShare: {
    description: 'The address, which is shown only once.',
    example: { ...SHARE, url: 'https://winnow.example/#share=shr_9f86d081884c7d65' },
  },
  ShareList: {
    description: 'The active shares of an account, newest first.',
    example: { object: 'list', data: [SHARE] },
  },
  SharedResult: {
    description: 'What the page needs to play one result, and nothing else about the account.',
    example: {
      file_name: 'walk.mp4',
      prompts: ['dog barking'],
      data: DATA,
      expires_at: SHARE.expires_at,
    },
  },
  RenameRequest: {
    description: 'The new name of the source.',
    example: { file_name: 'Interview, second take.wav' },
  },
  RenamedRequest: {
    description: 'The request under its new name.',
    example: { request_id: REQUEST_ID, file_name: 'Interview, second take.wav' },
  },
  LivePreview: {
    description: 'What can be played of a request while the rest is still separated.',
    example: {
      attempt: 'att_9f86d081884c7d65',
      seconds: 25,
      duration: 5_400,
      part_urls: [`https://winnow.example/media/outputs/${REQUEST_ID}/live/0`],
    },
  },
  StreamTimeout: {
    description: 'The stream window ended before the request did; connect again.',
    example: {
      request_id: REQUEST_ID,
      status: 'IN_PROGRESS',
      message: 'The stream window has ended; connect again to go on.',
    },
  },
}

/** The body of a status stream, cut short. */
export const STREAM_EXAMPLE = [
  `event: status\ndata: ${JSON.stringify(STATUS)}\n\n`,
  `event: status\ndata: ${JSON.stringify({ ...STATUS, status: 'COMPLETED' })}\n\n`,
].join('')
