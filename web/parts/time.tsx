/** A time of the service's, as this reader writes times. @param of ISO 8601 */
export const Time = ({ of }: { of: string }) => (
  <time class="quiet" dateTime={of}>
    {new Date(of).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })}
  </time>
)
