/**
 * Fetches and installs one model in a process of its own, because converting a checkpoint takes
 * gigabytes of memory for a while and blocks its thread.
 */

import { fetchModel } from './install.ts'
import type { FetchOrder, FetchReport } from './model-fetch.ts'

/** Progress is reported no more often than this. */
const REPORT_EVERY_MS = 200

const report = (message: FetchReport) => void process.send!(message)

process.on('disconnect', () => process.exit(1)) // the engine is gone, so nobody waits for the model
process.once('message', (order: FetchOrder) => {
  fetchAndReport(order).then(
    () => report({ type: 'installed' }),
    (error: Error) => report({ type: 'failed', problem: error.message }),
  )
})

async function fetchAndReport({ folder, entry }: FetchOrder): Promise<void> {
  let done = 0
  let file = 0
  let reportedAt = -Infinity
  await fetchModel(folder, entry, {
    onWait: (other) => report({ type: 'waiting', problem: `${other} is fetching it` }),
    onFile() {
      done += file
      file = 0
    },
    onProgress(bytes, total = bytes) {
      file = bytes
      const now = performance.now()
      if (now - reportedAt < REPORT_EVERY_MS) return
      reportedAt = now
      const bytesTotal = Math.max(entry.megabytes * 1e6, done + total)
      report({ type: 'downloading', bytes: done + bytes, bytesTotal })
    },
    onConvert: () => report({ type: 'converting' }),
  })
}
