/**
 * The tables with their columns as they are stored: ids and JSON as text, times as ISO-8601 text in
 * UTC, which sorts in the order of time.
 */

import type { OutputName } from '../../../shared/messages.ts'
import type { Priority } from '../../../shared/priority.ts'
import type { RequestKind } from '../../../shared/request-kind.ts'
import type { RequestStatus } from '../../../shared/request-status.ts'
import type { DeliveryAttemptRow, DeliveryRow, WebhookEndpointRow } from './webhook-tables.ts'

export const LIMIT_NAMES = [
  'calls_per_minute',
  'queued_requests',
  'concurrent_jobs',
  'media_bytes',
  'seconds_per_month',
  'streams',
  'file_bytes',
] as const
export type LimitName = (typeof LIMIT_NAMES)[number]

/** Limits that an admin has set for one account; null where the settings apply. */
export type LimitColumns = { [Name in LimitName as `max_${Name}`]: number | null }

export interface AccountRow extends LimitColumns {
  account_id: string
  name: string
  created_at: string
  /** 1 if separations are charged to its balance. */
  metered: 0 | 1
  /** Whole seconds of audio. Both are sums of the account's ledger. */
  balance_seconds: number
  reserved_seconds: number
  /** Bytes of its files and outputs. Triggers keep this sum (`media-migration.ts`). */
  media_held_bytes: number
  /**
   * Files whose bytes it holds or awaits, also counted by triggers (`file-counts-migration.ts`).
   */
  media_held_files: number
  /** Bytes reserved for the outputs of its unfinished requests. */
  media_reserved_bytes: number
  /** The highest class of its requests; null where the settings apply. */
  own_priority: Priority | null
  /** From then on its keys are refused. */
  disabled_at: string | null
  /** From then on it has no keys and no name, and its requests and files are removed. */
  deleted_at: string | null
}

export interface ApiKeyRow {
  key_id: string
  account_id: string
  /** For people, to tell keys apart. */
  name: string
  /** SHA-256 of the whole key, in hexadecimal. The key itself is not stored. */
  key_hash: string
  /** JSON: array of scopes. */
  scopes: string
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  /** Written once a minute; null if the key was never used, as far as is known. */
  last_used_at: string | null
  /** Calls per minute; null if the limit of its account applies. */
  own_calls_per_minute: number | null
  /** The highest class of requests with it; null if that of its account applies. */
  own_priority: Priority | null
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
  /** When the upload window ends, or once the file is uploaded, when the file expires. */
  expires_at: string
  /** Seconds of media, once an engine has measured them. */
  duration: number | null
  /** When its bytes were marked for deletion. */
  media_removed_at: string | null
}

export interface RequestRow {
  request_id: string
  account_id: string
  /** Follows from `options`; stored for queries. */
  kind: RequestKind
  status: RequestStatus
  priority: Priority
  /** Empty for a list of sounds. */
  prompt: string
  /** JSON: SeparationOptions. */
  options: string
  file_id: string | null
  audio_url: string | null
  /** The earlier request whose output is the media, and which output. */
  source_request_id: string | null
  source_output: OutputName | null
  /** The name of the source; outputs are named after it. */
  file_name: string
  /** JSON, as the client sent it. */
  metadata: string | null
  /** The receiver of the result; null if there is none. */
  webhook_url: string | null
  /** The key that signs it, encrypted for this request. */
  webhook_secret: string | null
  /** 1 if it was generated, and returned to the client by its submit. */
  webhook_secret_generated: 0 | 1
  /** The format of its webhook; null for Winnow's own. */
  webhook_format: 'fal' | null
  created_at: string
  updated_at: string
  started_at: string | null
  finished_at: string | null
  /** The attempt that holds the request now, or held it last. */
  attempt_id: string | null
  /**
   * Every attempt that ever started, each followed by a space, so that one that starts again is
   * recognized.
   */
  attempt_ids: string
  attempts: number
  /** Attempts whose device seconds are counted, as `attempt_ids`. */
  counted_attempt_ids: string
  engine_id: string | null
  /**
   * The sequence of its job in the broker stream, once it is published. Before that it is 0 if the
   * job counts in a limit of its account already.
   */
  job_sequence: number | null
  /** How often a lost job was put in the outbox again. */
  requeues: number
  /**
   * How often an engine released it because of a failure, or its job was lost while it was in
   * progress; drains are not counted.
   */
  interruptions: number
  /** Seconds of media, as soon as they are known. */
  duration: number | null
  sample_rate: number | null
  /** JSON: Outputs. Null for a list of sounds. */
  outputs: string | null
  /** JSON: HeardSounds of a COMPLETED request; null if its engine made no list. */
  sounds: string | null
  outputs_expire_at: string | null
  error_code: string | null
  error_message: string | null
  /**
   * Null unless COMPLETED, and for requests from before there were credits, which were not metered.
   */
  billing_status: 'deducted' | 'not_metered' | null
  /** Bytes of its outputs, or an estimate while it is unfinished; 0 if unknown. */
  media_bytes: number
  /** When its outputs were marked for deletion; only for finished requests. */
  media_removed_at: string | null
}

export interface LedgerRow {
  /** The id of the request, or for a credit the reference that its giver chose. */
  reference: string
  kind: 'credit' | 'reserve' | 'release' | 'deduct'
  account_id: string
  /** Seconds added to the account's balance; negative if taken. */
  balance_change: number
  /** Seconds added to what is reserved. */
  reserved_change: number
  created_at: string
}

export interface RequestLogRow {
  request_id: string
  position: number
  timestamp: string
  message: string
}

export interface OutboxRow {
  /** The broker drops a second message with this id. */
  message_id: string
  request_id: string
  created_at: string
  /** 1 if it waits until all others are handed over. */
  is_batch: 0 | 1
  /** The job is not handed over before this time. */
  not_before: string | null
  /** How often the broker refused it. */
  tries: number
  /** The trace span that put it here, as W3C's `traceparent`. */
  trace_parent: string | null
}

/** The answer of a submit with an Idempotency-Key. */
export interface IdempotencyKeyRow {
  account_id: string
  idempotency_key: string
  /** SHA-256 of the body it came with, in hexadecimal. */
  fingerprint: string
  request_id: string
  /** The encrypted answer, which may contain a webhook's secret; '' once its request is deleted. */
  sealed_answer: string
  expires_at: string
}

/** Media that no row refers to, and whose bytes are still to be deleted. */
export interface MediaRemovalRow {
  /** The key of one piece of media, or of everything below it. */
  media_key: string
  created_at: string
}

/** One row, written to find out whether the database takes writes. */
export interface WriteProbeRow {
  probe_id: number
  written_at: string
}

/** The calls of a key in one minute, counted by all gateways together. */
export interface RateWindowRow {
  key_id: string
  calls: number
  ends_at: string
}

/** A text that every gateway's encryption key must open. */
export interface SecretCheckRow {
  check_id: string
  sealed: string
}

/** A session of the page, or the one-time code that opens one. */
export interface PageSessionRow {
  /** SHA-256 of the secret, in hexadecimal. */
  secret_hash: string
  key_id: string
  /** Hash of the key that made it; it ends with that secret, or with the key. */
  key_hash: string
  kind: 'code' | 'session'
  expires_at: string
}

/** A change that an admin or a tool made, for example to an account. Rows are only ever added. */
export interface ChangeRow {
  change_id: string
  created_at: string
  /** Its maker: an API, a command-line tool, or a gateway that started. */
  tool: 'admin_api' | 'account_api' | 'command_line' | 'gateway'
  /** For an API the client's address; otherwise user and host, or the host. */
  origin: string
  /** An admin who signed in by name, as the provider knows them; null for all others. */
  admin_subject: string | null
  /** Their e-mail address or name at the time. */
  admin_name: string | null
  action:
    | 'account.create'
    | 'account.credit'
    | 'account.limit'
    | 'account.disable'
    | 'account.enable'
    | 'account.delete'
    | 'key.create'
    | 'key.limit'
    | 'key.rotate'
    | 'key.revoke'
    | 'key.restore'
    | 'session.open'
    | 'session.end'
    | 'model.fetch'
    | 'model.load'
    | 'model.unload'
    | 'model.remove'
    | 'engine.drain'
    | 'request.cancel'
    | 'webhook.redeliver'
    | 'endpoint.create'
    | 'endpoint.change'
    | 'endpoint.rotate'
    | 'endpoint.delete'
    | 'endpoint.disable'
    | 'endpoint.replay'
  account_id: string | null
  /** Names a key, or an admin's session. */
  key_id: string | null
  /** JSON: what was set, without secrets. */
  details: string
}

/** The installation that the database belongs to: one row. */
export interface InstallationRow {
  name: 'this'
  installation_id: string
  /** The place of its media, in words; null if none is marked yet. */
  media_place: string | null
  /** When the last used code of the admin page expires; null if none was used. */
  admin_code_expiry: string | null
}

/** The requests of an account that ended on one day (UTC). */
export interface UsageDayRow {
  account_id: string
  /** Such as `2026-01-31`. */
  day: string
  completed: number
  failed: number
  /** Seconds charged for completed requests, once per target. */
  audio_seconds: number
  /** Seconds of engines' devices that attempts took, by the day of their end. */
  device_seconds: number
}

/**
 * An address that plays the result of one request without a key. It is deleted with its request.
 */
export interface ShareRow {
  share_id: string
  /** SHA-256 of the secret, in hexadecimal. */
  secret_hash: string
  request_id: string
  account_id: string
  created_at: string
  expires_at: string
}

/** The oldest version that may use the database: one row, written by migrations. */
export interface SchemaUseRow {
  name: 'this'
  /** Programs that know this migration may use it. */
  migration: string
  version: string
}

export interface Tables {
  accounts: AccountRow
  api_keys: ApiKeyRow
  files: FileRow
  requests: RequestRow
  request_logs: RequestLogRow
  outbox: OutboxRow
  ledger: LedgerRow
  deliveries: DeliveryRow
  webhook_endpoints: WebhookEndpointRow
  idempotency_keys: IdempotencyKeyRow
  media_removals: MediaRemovalRow
  write_probe: WriteProbeRow
  rate_windows: RateWindowRow
  secret_checks: SecretCheckRow
  page_sessions: PageSessionRow
  changes: ChangeRow
  installation: InstallationRow
  schema_use: SchemaUseRow
  delivery_attempts: DeliveryAttemptRow
  usage_days: UsageDayRow
  shares: ShareRow
}
