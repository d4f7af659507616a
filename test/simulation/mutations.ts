/**
 * Bugs to plant one at a time: the simulation is only worth something if it finds them. Each replaces
 * one passage of the product's source.
 */

import { readFile, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type * as Runner from './run.ts'

export interface Mutation {
  name: string
  file: string
  /** Must occur exactly once in the file. */
  find: string
  replace: string
  /** A seed that finds it soon; any change of the code may make it another. */
  seed?: number
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'drop the guard of a move',
    file: 'gateway/store/requests.ts',
    find: "    .where('status', 'in', MAY_MOVE_FROM[move.to])\n",
    replace: '',
    seed: 4,
  },
  {
    name: 'acknowledge a submit before its commit',
    file: 'gateway/requests/submit/submit.ts',
    find: 'await insert(deps, row, { source, priority, answered: key && { ...key, answer } })',
    replace:
      'insert(deps, row, { source, priority, answered: key && { ...key, answer } }).catch(() => 0)',
  },
  {
    name: 'settle twice',
    file: 'gateway/store/ledger.ts',
    find: "  if (numInsertedOrUpdatedRows === 0n) return 'known'\n",
    replace: '',
    seed: 4,
  },
  {
    name: 'forget the outbox row',
    file: 'gateway/requests/submit/submit.ts',
    find: '      await putInOutbox(store, waiting, priority)\n',
    replace: '',
  },
  {
    name: 'forget to release a reservation',
    file: 'gateway/store/requests.ts',
    find: "  if (move.to === 'FAILED') await releaseReservation(store, move.requestId, move.now)\n",
    replace: '',
  },
  {
    name: 'start a known attempt again',
    file: 'gateway/store/requests.ts',
    find: "    .where('attempt_ids', 'not like', `%${mark}%`)\n",
    replace: '',
  },
  {
    name: 'let an earlier start take a request back',
    file: 'gateway/store/requests.ts',
    find: "        eb('started_at', '<=', start.startedAt),\n",
    replace: "        eb('started_at', 'is not', null),\n",
  },
  {
    name: 'lose the end of an attempt that overtakes its start',
    file: 'gateway/requests/follow/event-follower.ts',
    find: '  if (row && isKnownAttempt(row, attemptId))',
    replace: '  if (row)',
  },
  {
    name: 'forget the webhook of an end',
    file: 'gateway/requests/follow/finish-request.ts',
    find: 'await insertDeliveries(store, deliveries)',
    replace: "if (row.error_code !== 'CANCELED') await insertDeliveries(store, deliveries)",
  },
  {
    name: 'a webhook id of its own for each try',
    file: 'gateway/webhooks/sender.ts',
    find: 'const { webhook_id: id, request_id: requestId, account_id: accountId } = delivery',
    replace:
      'const { request_id: requestId, account_id: accountId } = delivery\n    const id = newId("msg")',
  },
  {
    name: 'take any response for a delivery',
    file: 'gateway/webhooks/outcome.ts',
    find: "'status' in outcome && outcome.status >= 200 && outcome.status <= 299",
    replace: "'status' in outcome",
  },
  {
    name: 'delete a file that a waiting request needs',
    file: 'gateway/store/retention.ts',
    find: "    .where('status', 'in', UNFINISHED)\n    .where('file_id', 'is not', null)\n",
    replace: "    .where('status', '=', 'IN_PROGRESS')\n    .where('file_id', 'is not', null)\n",
    seed: 17,
  },
  {
    name: 'sweep what the attempt that won has stored',
    file: 'gateway/store/retention.ts',
    find: '    .filter((key) => !neededKeys.some((neededKey) => neededKey.startsWith(`${key}/`)))\n',
    replace: '',
  },
  {
    name: 'acknowledge a job before its end is stored',
    file: 'engine/intake.ts',
    find: '      await beginning\n',
    replace: '      await beginning\n      await lease.ack()\n',
  },
  {
    name: 'lease no further short jobs',
    file: 'engine/intake.ts',
    find: '      JOB_QUEUE_NAMES.flatMap((queue) =>',
    replace: "      JOB_QUEUE_NAMES.filter((each) => each !== 'short-further').flatMap((queue) =>",
  },
  {
    name: 'forget the key of a submit',
    file: 'gateway/requests/submit/submit.ts',
    find: '      if (answered) await storeAnswer(store, deps, { ...answered, requestId: request_id })\n',
    replace: '',
  },
  {
    name: 'complete before the outputs are stored',
    file: 'engine/job/outputs/output-store.ts',
    find: 'const place = await inTraceSpan(`upload ${part}`, {}, () => media.uploadOutput(upload))',
    replace:
      'const place = attemptId; ' +
      'inTraceSpan(`upload ${part}`, {}, () => media.uploadOutput(upload)).catch(() => undefined)',
  },
  {
    name: 'leave the lanes of a stopped job',
    file: 'engine/compute/scheduler.ts',
    find: '    this.#compute.discard(id).catch(() => undefined)\n',
    replace: '',
  },
]

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Inside the project, so that Node resolves packages from there. */
const FOLDER = '.runtime/simulation'

/**
 * Bundles and imports the runner with the bug planted.
 * @throws Error if the passage does not occur exactly once
 */
export async function planted({ name, file, find, replace }: Mutation): Promise<typeof Runner> {
  let isPlanted = false
  const plugin: Plugin = {
    name: 'mutation',
    setup: ({ onLoad }) => {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const source = await readFile(path, 'utf8')
        // Files next to a source must be looked up next to it, not next to the bundle.
        const contents = source.replaceAll('import.meta.url', `'${pathToFileURL(path).href}'`)
        if (path !== resolve(ROOT, file)) return { contents, loader: 'ts' }
        const count = contents.split(find).length - 1
        if (count !== 1) throw new Error(`${file} has ${count} places for "${name}"`)
        isPlanted = true
        return { contents: contents.replace(find, () => replace), loader: 'ts' }
      })
    },
  }
  const outfile = resolve(ROOT, FOLDER, `${name.replaceAll(' ', '-')}-${process.pid}.mjs`)
  await build({
    entryPoints: [resolve(ROOT, 'test/simulation/run.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    plugins: [plugin],
    logLevel: 'silent',
  })
  if (!isPlanted) throw new Error(`${file} is no part of the simulation`)
  try {
    return (await import(pathToFileURL(outfile).href)) as typeof Runner
  } finally {
    await rm(outfile)
  }
}
