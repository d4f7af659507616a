/**
 * Applies the events of engines to requests. Events come at least once and not always in order;
 * each is one transaction with guards, so that a late or repeated one changes nothing, and an early
 * one brings the start of its attempt with it.
 */

import { dayOfTime, isoTime } from '../../../shared/clock.ts'
import { DAY_MS, MINUTE_MS } from '../../../shared/durations.ts'
import type { FailureCode } from '../../../shared/errors.ts'
import { targetNames, type Event } from '../../../shared/messages.ts'
import { isTerminal } from '../../../shared/request-status.ts'
import { charge, reserveMeasured } from '../../accounts/credits.ts'
import { excessOf } from '../../accounts/media-quota.ts'
import type { Settings } from '../../config.ts'
import {
  announceFinished,
  failedMove,
  finishRequest,
  type FinishDeps,
  type FinishedRequest,
} from './finish-request.ts'
import { releaseRequest } from './release-request.ts'
import type { Outputs } from '../present/outputs.ts'
import { nameInUrl, sourceName } from '../submit/source.ts'
import { accountOf } from '../../store/accounts.ts'
import { inTransaction, type Store } from '../../store/database.ts'
import { setFileDuration } from '../../store/files.ts'
import { appendLogs } from '../../store/request-logs.ts'
import {
  findRequest,
  findRequestToChange,
  isKnownAttempt,
  noteCounted,
  noteMeasured,
  promptsOfRow,
  startAttempt,
} from '../../store/requests.ts'
import { giveUpLateOutputs, giveUpOutputsOfOtherAttempts } from '../../store/retention.ts'
import type { RequestRow } from '../../store/schema/tables.ts'
import { addUse } from '../../store/usage.ts'
import type { Logger } from '../../../shared/telemetry/log.ts'
import type { EngineCanceler } from '../own-requests.ts'

interface FollowerDeps extends FinishDeps {
  engineRegistry: EngineCanceler
  log: Logger
  wakePublisher: () => void
  config: FinishDeps['config'] & Settings<'mediaBytesMaxPerAccount' | 'outputDays'>
}

/** A start further in the future than this comes from a clock that is wrong. */
const AHEAD_MS_MAX = MINUTE_MS

/** The effect of an event on its request: its end, another change, or none. */
type Effect = FinishedRequest | 'changed' | 'unchanged'

/**
 * Creates a handler for `broker.followEvents`. Once it resolves, the event may be acknowledged.
 * Events of one request are handled in the order of the calls, those of different requests
 * concurrently.
 */
export function createEventHandler(deps: FollowerDeps): (event: Event) => Promise<void> {
  const latest = new Map<string, Promise<void>>()
  return async (event) => {
    const { request_id: requestId } = event
    const before = latest.get(requestId)?.catch(() => undefined) // its own caller gets the error
    const handled = before ? before.then(() => handleEvent(event, deps)) : handleEvent(event, deps)
    latest.set(requestId, handled)
    try {
      await handled
    } finally {
      if (latest.get(requestId) === handled) latest.delete(requestId)
    }
  }
}

async function handleEvent(event: Event, deps: FollowerDeps): Promise<void> {
  const { request_id: requestId, attempt_id: attemptId, engine_id: engineId } = event
  const effect = await inTransaction(deps.store, async (store) => {
    const effect = await applyEvent(store, event, deps)
    if (effect !== 'unchanged') await appendLogs(store, requestId, event.logs)
    await countDeviceSeconds(store, event, isoTime(deps.clock.now()))
    return effect
  })
  const status = typeof effect === 'string' ? effect : effect.row.status
  deps.log.info(
    { requestId, attemptId, engineId, event: event.type, effect: status },
    'applied an event',
  )
  if (typeof effect !== 'string') announceFinished(deps, effect)
  if (effect === 'changed' && event.type === 'released') deps.wakePublisher()
  if (effect === 'changed') deps.feed.rowChanged(requestId)
  else await stopIfFinished(event, deps)
}

/** Counts what an attempt took once, however it ended and whatever its event changes. */
async function countDeviceSeconds(store: Store, event: Event, now: string): Promise<void> {
  const { request_id: requestId, attempt_id: attemptId, device_seconds: seconds = 0 } = event
  if (seconds === 0) return
  const accountId = await noteCounted(store, requestId, attemptId)
  if (accountId === undefined) return
  await addUse(store, { account_id: accountId, day: dayOfTime(now), device_seconds: seconds })
}

async function applyEvent(store: Store, event: Event, deps: FollowerDeps): Promise<Effect> {
  const { request_id: requestId, attempt_id: attemptId, engine_id: engineId, at } = event
  const now = deps.clock.now()
  // A start is nearly always the first event of its attempt, so reading the row first would be of
  // no use. Any other event hardly ever is.
  const row = event.type === 'started' ? undefined : await findRequestToChange(store, requestId)
  if (row && isKnownAttempt(row, attemptId)) return applyToAttempt(store, event, row, deps)
  const begun = await startAttempt(store, {
    requestId,
    attemptId,
    engineId,
    startedAt: event.started_at ?? at,
    now: isoTime(now),
    latest: isoTime(now + AHEAD_MS_MAX),
  })
  const effect = await applyToAttempt(store, event, begun ?? row, deps)
  return begun && effect === 'unchanged' ? 'changed' : effect
}

/**
 * @param row the request, locked by the transaction; undefined if it is deleted, or for a start
 *   that has no effect
 */
async function applyToAttempt(
  store: Store,
  event: Event,
  row: RequestRow | undefined,
  { clock, config, mediaStore }: FollowerDeps,
): Promise<Effect> {
  const { request_id: requestId, attempt_id: attemptId } = event
  const ending = { now: isoTime(clock.now()), presenter: { config, mediaStore } }
  switch (event.type) {
    case 'started': {
      const { duration, output_bytes } = event
      if (!row || duration === undefined) return 'unchanged'
      return orUnchanged(failUnlessItFits(store, row, { duration, output_bytes }, ending))
    }
    case 'released': {
      const released = await releaseRequest(store, row, event, {
        now: clock.now(),
        presenter: ending.presenter,
      })
      return released === 'queued' ? 'changed' : (released ?? 'unchanged')
    }
    case 'measured': {
      // from any attempt, because all have the same media
      if (!row || isTerminal(row.status)) return 'unchanged'
      return orUnchanged(failUnlessItFits(store, row, event, ending))
    }
    case 'failed': // a stale attempt must not fail a request of another attempt
      return orUnchanged(fail(store, { requestId, attemptId }, event.error, ending))
    case 'completed': {
      // from any attempt, because all give the same result
      const outputsExpireAt = isoTime(clock.now() + config.outputDays * DAY_MS)
      return orUnchanged(completeAndCharge(store, row, event, { ...ending, outputsExpireAt }))
    }
  }
}

const orUnchanged = async (finishing: Promise<FinishedRequest | null>): Promise<Effect> =>
  (await finishing) ?? 'unchanged'

type Ending = { now: string; presenter: Pick<FollowerDeps, 'config' | 'mediaStore'> }

type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>

/** @param row locked by the transaction */
async function failUnlessItFits(
  store: Store,
  row: RequestRow,
  measured: Pick<EventOf<'measured'>, 'duration' | 'output_bytes'>,
  ending: Ending,
): Promise<FinishedRequest | null> {
  const { request_id: requestId } = row
  const { duration, output_bytes: bytes = 0 } = measured
  const isNoted = row.duration === duration
  if (row.file_id !== null && !isNoted) await setFileDuration(store, row.file_id, duration)
  await noteMeasured(store, requestId, { duration, media_bytes: bytes })
  const account = await accountOf(store, row) // with these bytes
  const shortfall = await reserveMeasured(store, { row, account }, duration, ending.now)
  if (shortfall !== null) return failForCredits(store, requestId, shortfall, ending)
  const excess = excessOf(row, bytes, account, ending.presenter.config)
  return excess === null ? null : failForMedia(store, requestId, excess, ending)
}

/**
 * Completes a request and charges it. If the balance does not cover it, or its outputs do not fit
 * into the quota, it fails instead and costs nothing.
 */
async function completeAndCharge(
  store: Store,
  row: RequestRow | undefined,
  event: EventOf<'completed'>,
  ending: Ending & { outputsExpireAt: string },
): Promise<FinishedRequest | null> {
  const { request_id: requestId, duration } = event
  const { now, outputsExpireAt, presenter } = ending
  if (!row) await giveUpLateOutputs(store, requestId, now) // it was deleted in the meantime
  if (!row || isTerminal(row.status)) return null
  const isNoted = row.duration === duration
  if (row.file_id !== null && !isNoted) await setFileDuration(store, row.file_id, duration)
  const missing = missingOf(row, event)
  if (missing !== undefined) {
    const message = `The engine ${event.engine_id} gave no ${missing}: it is of another version.`
    return fail(store, { requestId }, { code: 'MODEL_FAILED', message }, ending)
  }
  const { outputs: storedOutputs } = row.kind === 'sounds' ? {} : event
  const media_bytes = bytesOf(storedOutputs)
  if (media_bytes > row.media_bytes) await noteMeasured(store, requestId, { duration, media_bytes })
  const account = await accountOf(store, row) // with these bytes
  const excess = excessOf(row, media_bytes, account, presenter.config)
  if (excess !== null) return failForMedia(store, requestId, excess, ending)
  const charged = await charge(store, { row, account }, duration, now)
  if ('shortfall' in charged) return failForCredits(store, requestId, charged.shortfall, ending)
  const outputs = storedOutputs ? JSON.stringify(storedOutputs) : null
  // an engine makes a checkpoint or not by the length that it measured first
  const seconds = Math.max(duration, row.duration ?? 0)
  await giveUpOutputsOfOtherAttempts(store, { ...row, outputs, duration: seconds }, now)
  return finishRequest(
    store,
    {
      requestId,
      to: 'COMPLETED',
      now,
      set: {
        duration,
        media_bytes,
        sample_rate: event.sample_rate,
        outputs,
        sounds: event.sounds ? JSON.stringify(event.sounds) : null,
        finished_at: now,
        outputs_expire_at: outputsExpireAt,
        billing_status: charged.billing,
        ...(event.source_name !== undefined &&
          hasNameOfUrl(row) && { file_name: sourceName(event.source_name) }),
      },
    },
    presenter,
  )
}

/** Whether nobody has renamed it since. */
const hasNameOfUrl = ({ audio_url: url, file_name: name }: RequestRow): boolean =>
  url !== null && name === nameInUrl(url)

/** Returns what the engine should have reported but did not, or undefined if nothing is missing. */
function missingOf(row: RequestRow, { outputs, sounds }: EventOf<'completed'>): string | undefined {
  if (row.kind === 'sounds') return sounds ? undefined : 'list of sounds'
  const names = [...targetNames(promptsOfRow(row).length), 'residual' as const]
  return names.find((name) => !outputs?.[name])
}

/** Returns the bytes that an engine has stored. */
const bytesOf = ({ gain_db: _gain, ...files }: Partial<Outputs> = {}): number =>
  Object.values<{ bytes: number; video?: { bytes: number } }>(files).reduce(
    (sum, { bytes, video }) => sum + bytes + (video?.bytes ?? 0),
    0,
  )

const failForCredits = (store: Store, requestId: string, message: string, ending: Ending) =>
  fail(store, { requestId }, { code: 'INSUFFICIENT_CREDITS', message }, ending)

const failForMedia = (store: Store, requestId: string, message: string, ending: Ending) =>
  fail(store, { requestId }, { code: 'MEDIA_QUOTA_EXCEEDED', message }, ending)

const fail = (
  store: Store,
  ids: { requestId: string; attemptId?: string },
  error: { code: FailureCode; message: string },
  { now, presenter }: Ending,
): Promise<FinishedRequest | null> =>
  finishRequest(store, { ...ids, ...failedMove(error, now) }, presenter)

/**
 * Makes an engine stop working on a request that has ended or was deleted. It may have been
 * canceled, the balance may not cover it, or its outputs may not fit.
 */
async function stopIfFinished(event: Event, { store, engineRegistry }: FollowerDeps) {
  if (event.type !== 'started' && event.type !== 'measured') return
  const row = await findRequest(store, event.request_id)
  // Not awaited, because an engine that hangs must not hold up other events. The registry logs a
  // failure.
  if (!row || isTerminal(row.status)) void engineRegistry.cancel(event.engine_id, event.request_id)
}
