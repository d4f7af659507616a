// Which files of tests each tier has (docs/development.md). Pure, so that a test can check it.

/**
 * Minutes of a kind that few changes touch: hundreds of faults, packages, a booted systemd, a
 * balancer with a cluster of brokers, the report on a GPU, benches, Firefox, a driver that is
 * compiled, published weights of 98 MB and the runtime they are compared with, graphs that XLA
 * compiles, predictions of memory against the allocator, and hundreds of random calls to the API.
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
 * Of the folders of `quick`: half a minute or more of a processor each, every installed model
 * through whole passes, batches of lanes; and a bucket of SeaweedFS, which is 48 MB to download.
 */
const NOT_QUICK =
  /^test\/(parity\/(installed-models|mini-lane|device-traffic)|contract\/media-stores)[.]/
const QUICK = /^test\/(unit|contract|parity)\/|^test\/(tidy|browser\/main-paths)\.test\.ts$/

/**
 * Files of the contract about what is stored: locks, sums, lists, sweeps and constraints, in which
 * databases differ. The store's functions all run on both (test/integration/gateway/store).
 */
const ON_POSTGRES = new RegExp(
  [
    '^test/contract/(account-views|accounts|activity|audit|clock|closing-accounts',
    'credits(-property)?|deletion|errors|estimates|idempotency|limits|media-quota',
    'metrics|operator-tools|output-sources|retention|service',
    'sessions|shares|statements|states|webhooks)[.]',
  ].join('|'),
)

/** @returns {'quick' | 'rest' | 'nightly'} of a file of tests */
export const tierOf = (file) =>
  NIGHTLY.test(file) ? 'nightly' : QUICK.test(file) && !NOT_QUICK.test(file) ? 'quick' : 'rest'

/** Returns whether a file of tests also runs on PostgreSQL, which is part of the tier `rest`. */
export const runsOnPostgres = (file) => ON_POSTGRES.test(file)

/** @param text `2/4`: the second of four shards @throws Error where it is none */
export function shardOf(text) {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text) ?? []
  if (index >= 1 && Number(index) <= Number(count)) return { index: index - 1, count: +count }
  throw new Error(`a shard is such as 2/4, not "${text}"`)
}

/** Every shard has some of each folder: neighbours go to different ones. */
export const inShard = (files, { index, count }) => files.filter((_, i) => i % count === index)

/**
 * The files of a tier, and those that it runs on PostgreSQL.
 * @param tier null: of all tiers, those whose path contains one of `parts`; packages take so long
 *   that a part must name them from the start
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
