const DAY_MS = 24 * 60 * 60 * 1_000

const midnight = (time: Date): number => new Date(time).setHours(0, 0, 0, 0)

/**
 * A time as short as it says which day: `today 14:05`, `yesterday 14:05`, `12 Nov`, `12 Nov 2025`.
 * @param locale the reader's own by default
 */
export function fittingTime(time: Date, now: Date, locale?: string): string {
  const days = Math.round((midnight(now) - midnight(time)) / DAY_MS) // one may have 23 hours
  const near = days === 0 ? 'today' : days === 1 ? 'yesterday' : undefined
  if (near) return `${near} ${time.toLocaleTimeString(locale, { timeStyle: 'short' })}`
  const isThisYear = time.getFullYear() === now.getFullYear()
  return time.toLocaleDateString(locale, {
    day: 'numeric',
    month: 'short',
    ...(!isThisYear && { year: 'numeric' }),
  })
}
