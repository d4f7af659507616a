import { fittingTime } from '../state/fitting-time.ts'

const inFull = (iso: string): string =>
  new Date(iso).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })

/**
 * Formats a time for the reader's locale.
 * @param at ISO 8601
 */
export const Time = ({ at }: { at: string }) => (
  <time class="quiet" dateTime={at}>
    {inFull(at)}
  </time>
)

/**
 * Formats a past time as briefly as still clear.
 * @param at ISO 8601
 */
export const PastTime = ({ at }: { at: string }) => (
  <time class="quiet" dateTime={at} title={inFull(at)}>
    {fittingTime(new Date(at), new Date())}
  </time>
)
