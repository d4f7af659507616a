import { fittingTime } from '../state/fitting-time.ts'

const inFull = (iso: string): string =>
  new Date(iso).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })

/**
 * Formats a time for the reader's locale.
 * @param of ISO 8601
 */
export const Time = ({ of }: { of: string }) => (
  <time class="quiet" dateTime={of}>
    {inFull(of)}
  </time>
)

/**
 * Formats a past time as briefly as still clear.
 * @param of ISO 8601
 */
export const PastTime = ({ of }: { of: string }) => (
  <time class="quiet" dateTime={of} title={inFull(of)}>
    {fittingTime(new Date(of), new Date())}
  </time>
)
