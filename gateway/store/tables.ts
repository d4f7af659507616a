/**
 * The tables as their columns are stored: ids and JSON as text, times as ISO-8601 UTC text, which
 * sorts as the times do.
 */

import type { RequestStatus } from '../../shared/request-status.ts'

export interface AccountRow {
  account_id: string
  name: string
  created_at: string
}

export interface ApiKeyRow {
  key_id: string
  account_id: string
  /** SHA-256 of the whole key, in hexadecimal; the key itself is nowhere. */
  key_hash: string
  /** JSON: array of scopes. */
  scopes: string
  created_at: string
  expires_at: string | null
  revoked_at: string | null
}

export interface FileRow {
  file_id: string
  account_id: string
  /** As the client named it; shown, never used as a path. */
  file_name: string
  content_type: string
  file_size: number
  purpose: string
  created_at: string
  uploaded_at: string | null
  /** The end of the upload window, and once uploaded, of the file. */
  expires_at: string
  /** When its bytes were given up; nothing may ask for them any more. */
  media_removed_at: string | null
}

export interface RequestRow {
  request_id: string
  account_id: string
  status: RequestStatus
  prompt: string
  /** JSON: SeparationOptions. */
  options: string
  file_id: string | null
  audio_url: string | null
  /** What the source is called; outputs are named after it. */
  file_name: string
  /** JSON: what the client gave. */
  metadata: string | null
  created_at: string
  updated_at: string
  started_at: string | null
  finished_at: string | null
  /** The attempt that holds the request now, or held it last. */
  attempt_id: string | null
  /** Every attempt that ever started, each followed by a space: one that starts again is known. */
  attempt_ids: string
  attempts: number
  engine_id: string | null
  /** Where its job stands in the broker stream, once it is there. */
  job_sequence: number | null
  /** How often a lost job was put in the outbox again. */
  requeues: number
  duration: number | null
  sample_rate: number | null
  /** JSON: Outputs. */
  outputs: string | null
  outputs_expire_at: string | null
  error_code: string | null
  error_message: string | null
  /** When its outputs were given up; only of a request that is finished. */
  media_removed_at: string | null
}

export interface RequestLogRow {
  request_id: string
  /** Order of the lines of one request. */
  position: number
  timestamp: string
  message: string
}

export interface OutboxRow {
  /** The broker drops a repeat of it. */
  message_id: string
  request_id: string
  created_at: string
}

/** What was answered to a submit with an Idempotency-Key. */
export interface IdempotencyKeyRow {
  account_id: string
  idempotency_key: string
  /** SHA-256 of the body it came with, in hexadecimal. */
  fingerprint: string
  request_id: string
  /** The body of the answer, sealed: it may hold a secret that is shown to its client alone. */
  sealed_answer: string
  expires_at: string
}

/** Media that no row wants any more, and whose bytes are still to be deleted. */
export interface MediaRemovalRow {
  /** Of one piece of media, or of all that lie below it. */
  media_key: string
  created_at: string
}

/** One row, written to find out whether the database takes writes. */
export interface WriteProbeRow {
  probe_id: number
  written_at: string
}

export interface Tables {
  accounts: AccountRow
  api_keys: ApiKeyRow
  files: FileRow
  requests: RequestRow
  request_logs: RequestLogRow
  outbox: OutboxRow
  idempotency_keys: IdempotencyKeyRow
  media_removals: MediaRemovalRow
  write_probe: WriteProbeRow
}
