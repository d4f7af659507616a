import { fittingTime } from '../state/fitting-time.ts'

const inFull = (iso: string): string =>
  new Date(iso).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })

/** A time of the service's, as this reader writes times. @param of ISO 8601 */
export const Time = ({ of }: { of: string }) => (
  <time class="quiet" dateTime={of}>
    {inFull(of)}
  </time>
)

/** As short as it says which day. @param of ISO 8601, in the past */
export const PastTime = ({ of }: { of: string }) => (
  <time class="quiet" dateTime={of} title={inFull(of)}>
    {fittingTime(new Date(of), new Date())}
  </time>
)
