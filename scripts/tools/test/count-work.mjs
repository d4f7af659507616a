// Preloaded into each test file by scripts/tools/test.mjs. When the file ends, appends a line to
// WINNOW_TEST_WORK: how many processes the file started, and how much processor time it used.

import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { isMainThread } from 'node:worker_threads'

/**
 * Fields of /proc/self/stat after the name: user and system time of this process, then of its
 * children that have ended.
 */
const TIMES = [11, 12, 13, 14]
/** Linux reports these times in hundredths of a second. */
const TICKS_PER_SECOND = 100

const report = process.env.WINNOW_TEST_WORK
const path = process.argv[1] ?? ''
if (report && isMainThread && /\.test\.(ts|mjs)$/.test(path)) {
  let processes = 0
  subscribe('child_process', () => {
    processes += 1
  })
  process.once('exit', () => {
    const file = basename(path)
    const work = { file, processes, seconds: processorSeconds() }
    appendFileSync(report, `${JSON.stringify(work)}\n`)
  })
}

function processorSeconds() {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return TIMES.reduce((sum, index) => sum + Number(fields[index]), 0) / TICKS_PER_SECOND
}
