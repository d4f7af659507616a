// Runs the commands of set-up, and measures the time that its downloads take.

import { spawn } from 'node:child_process'
import { ROOT } from './files.mjs'

let downloadMs = 0

/** Runs a command to its end; its output is shown, or kept for the error when `quiet`. */
export function execute(command, args, { cwd = ROOT, env = {}, quiet = false } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', ...(quiet ? ['pipe', 'pipe'] : ['inherit', 'inherit'])],
    })
    let said = ''
    for (const output of [child.stdout, child.stderr]) {
      output?.on('data', (text) => {
        said = (said + text).slice(-10_000)
      })
    }
    child.on('error', fail)
    child.on('close', (code) =>
      code === 0
        ? done(undefined)
        : fail(new Error(`${command} ${args[0] ?? ''} ended with ${code}.\n${said}`)),
    )
  })
}

export async function timedDownload(work) {
  const before = Date.now()
  await work()
  downloadMs += Date.now() - before
}

/** The time that all downloads together took so far. */
export function downloadedMs() {
  return downloadMs
}
