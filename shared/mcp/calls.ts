/**
 * The API calls that the tools of the MCP server make, and the parts of the responses that they
 * read.
 */

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

/** Result of a separation, or of a list of sounds, which has no outputs. */
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

/** Errors have a `code`, and a `param` if a field is at fault. */
export interface Calls {
  models(): Promise<{ data: Model[] }>
  createFile(file: FileToCreate): Promise<CreatedFile>
  submit(body: { input: object }): Promise<{ request_id: string }>
  submitSounds(body: { input: object }): Promise<{ request_id: string }>
  status(requestId: string): Promise<Status>
  result(requestId: string): Promise<Result>
  /** Works even after the signal of the tool call has fired. */
  cancel(requestId: string): Promise<Status>
}

/** What a server on the user's own machine can do in addition. */
export interface LocalFiles {
  /** Uploads the file at `path`; resolves with the id of the uploaded file. */
  upload(path: string, onProgress: (part: number) => void): Promise<string>
  /**
   * Saves the media at a signed address to a folder.
   * @returns the path of the file
   */
  save(url: string, fileName: string, folder: string): Promise<string>
}
