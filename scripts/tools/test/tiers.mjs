// Decides which test files each tier contains (docs/development.md). Pure, so that a test can check
// it.

/**
 * Tests that take minutes and that few changes touch: hundreds of faults, packages, a booted
 * systemd, a balancer with a cluster of brokers, the report on a GPU, benches, Firefox, a driver
 * that is compiled, published weights of 98 MB and the runtime they are compared with, graphs that
 * XLA compiles, predictions of memory against the allocator, and hundreds of random calls to the
 * API.
 */
const NIGHTLY = new RegExp(
  [
    '^test/(campaign|package)/',
    '^test/e2e/(systemd|upgrade|load-balancer|gpu-report|tuning|schemathesis)[.]',
    '^test/browser/firefox[.]',
    '^test/parity/(htdemucs/published|memory-prediction|xla)[.]',
    '/sqlite-driver[.]',
  ].join('|'),
)

/**
 * Files in the folders of `quick` that are too slow for it: each takes half a minute or more of
 * processor time (whole passes with every installed model, batches of lanes), or needs SeaweedFS, a
 * download of 48 MB.
 */
const NOT_QUICK = /^test\/(parity\/(installed-models|mini-lane|device-traffic)|contract\/bucket)[.]/
const QUICK = /^test\/(unit|contract|parity)\/|^test\/(tidy|browser\/main-paths)\.test\.ts$/

/**
 * Contract tests of locks, sums, lists, sweeps, triggers and constraints, in which databases
 * differ. Every statement of the store runs on both databases (test/integration/gateway/store), and
 * what two gateways do at once runs on PostgreSQL (test/integration/gateway/two-gateways).
 */
const ON_POSTGRES = new RegExp(
  [
    '^test/contract/(account-views|accounts|activity|audit|closing-accounts|credits|deletion',
    'idempotency|limits|media-quota|metrics|retention|sessions|statements|states|webhooks)[.]',
  ].join('|'),
)

/** @returns {'quick' | 'rest' | 'nightly'} the tier of a test file */
export const tierOf = (file) =>
  NIGHTLY.test(file) ? 'nightly' : QUICK.test(file) && !NOT_QUICK.test(file) ? 'quick' : 'rest'

/** Returns whether a test file also runs on PostgreSQL, which is part of the tier `rest`. */
export const runsOnPostgres = (file) => ON_POSTGRES.test(file)

/**
 * @param text `2/4` is the second of four shards
 * @throws Error if it has another form
 */
export function shardOf(text) {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text) ?? []
  if (index >= 1 && Number(index) <= Number(count)) return { index: index - 1, count: +count }
  throw new Error(`a shard is such as 2/4, not "${text}"`)
}

/** Spreads neighbours over different shards, so that every shard has some files of each folder. */
export const inShard = (files, { index, count }) => files.filter((_, i) => i % count === index)

/**
 * Returns the files of a tier, and those that it runs on PostgreSQL.
 * @param tier null for the files of all tiers whose path contains one of `parts`; packages take so
 * long that a part has to begin with their folder
 */
export function chooseFiles(all, tier, parts = []) {
  if (tier === null) {
    const isNamed = (file, part) =>
      file.includes(part) && (!file.startsWith('test/package/') || part.startsWith('test/package'))
    const files = all.filter((file) => parts.some((part) => isNamed(file, part)))
    return { files, onPostgres: files.filter(runsOnPostgres) }
  }
  const tiers = tier === 'all' ? ['quick', 'rest'] : [tier]
  return {
    files: all.filter((file) => tiers.includes(tierOf(file))),
    onPostgres: tiers.includes('rest') ? all.filter(runsOnPostgres) : [],
  }
}
