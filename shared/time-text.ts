/** Returns a time as text: `1:05`, `1:05.2` with one digit, or `1:00:05`. */
export function timeText(seconds: number, digits = 0): string {
  const factor = 10 ** digits
  const time = Math.round(seconds * factor) / factor
  const [hours, minutes] = [Math.floor(time / 3_600), Math.floor((time % 3_600) / 60)]
  const rest = (time % 60).toFixed(digits).padStart(digits === 0 ? 2 : 3 + digits, '0')
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`
}
