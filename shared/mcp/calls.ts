/** The calls of the API that the tools of the MCP server make, and the parts that they read. */

import type { RequestStatus } from '../request-status.ts'

export interface FileToCreate {
  file_name: string
  content_type: string
  /** Bytes. */
  file_size: number
  purpose: 'audio.separate.input'
}

export interface CreatedFile {
  file_id: string
  upload_url: string
  upload_method: string
  headers: Record<string, string>
  expires_at: string
}

export interface Model {
  separators?: {
    name: string
    summary: string
    answers: string
    stems: string[]
    names?: string[]
    licence?: string
  }[]
}

export interface Status {
  request_id: string
  status: RequestStatus
  progress?: number
  queue_position?: number
  estimated_seconds_left?: number
  error?: { code: string; message: string }
}

export interface OutputFile {
  url: string
  video_url?: string
  file_name: string
}

export interface Finding {
  prompt: string
  state: string
  message: string
  match?: number
  quality?: string
  similar_to?: string
  nearest?: string[]
}

export interface Sound {
  name: string
  spans: { start: number; end: number }[]
  share: number
  match: number
}

/** Of a separation, or of a list of sounds, which has no outputs. */
export interface Result {
  data: {
    target?: OutputFile
    targets?: (OutputFile & { prompt: string })[]
    residual?: OutputFile
    duration?: number
    findings?: Finding[]
    sounds?: Sound[]
  }
  retention: { delete_after?: string }
}

/** Errors have a `code`, and a `param` where a field is at fault. */
export interface Calls {
  models(): Promise<{ data: Model[] }>
  createFile(file: FileToCreate): Promise<CreatedFile>
  submit(body: { input: object }): Promise<{ request_id: string }>
  submitSounds(body: { input: object }): Promise<{ request_id: string }>
  status(requestId: string): Promise<Status>
  result(requestId: string): Promise<Result>
  /** Works also when the signal of the tool's call has fired. */
  cancel(requestId: string): Promise<Status>
}

/** What a server on the user's own machine can do besides. */
export interface LocalFiles {
  /** Resolves with the id of a file that holds the bytes of the one at `path`. */
  upload(path: string, onProgress: (part: number) => void): Promise<string>
  /** Writes the media at a signed address into a folder. @returns its path */
  save(url: string, fileName: string, folder: string): Promise<string>
}
