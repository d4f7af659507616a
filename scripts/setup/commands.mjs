// Runs the commands of set-up, and measures how long its downloads take.

import { spawn } from 'node:child_process'
import { ROOT } from './files.mjs'

let downloadMs = 0

/**
 * Runs a command to its end. Shows its output, or with `quiet` includes the end of it in the error.
 */
export function execute(command, args, { cwd = ROOT, env = {}, quiet = false } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', ...(quiet ? ['pipe', 'pipe'] : ['inherit', 'inherit'])],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text) => {
        output = (output + text).slice(-10_000)
      })
    }
    child.on('error', fail)
    child.on('close', (code) =>
      code === 0
        ? done(undefined)
        : fail(new Error(`${command} ${args[0] ?? ''} ended with ${code}.\n${output}`)),
    )
  })
}

export async function timedDownload(work) {
  const before = Date.now()
  await work()
  downloadMs += Date.now() - before
}

/** Returns how long all downloads took so far. */
export function downloadedMs() {
  return downloadMs
}
