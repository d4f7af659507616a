/** The seed of all random tests. */

/** Fixed, so that a change always gets the same result; `npm run test:nightly` sets a new one. */
const FIXED_SEED = 7

/** An integer from 0 up to 2^31. @throws Error if WINNOW_TEST_SEED is anything else */
export const TEST_SEED = readSeed(process.env.WINNOW_TEST_SEED)

function readSeed(text: string | undefined): number {
  const seed = text === undefined ? FIXED_SEED : Number(text)
  if (Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31) return seed
  throw new Error(`WINNOW_TEST_SEED must be a whole number from 0 to 2147483647, not "${text}"`)
}
