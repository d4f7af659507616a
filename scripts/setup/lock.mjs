// Lets only one set-up of a checkout run at a time.

import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { ageMs, readText, RUNTIME } from './files.mjs'

/**
 * Two set-ups of one checkout must not run at once, as `npm start` and `npm test` would start them.
 */
export async function withLock(work) {
  mkdirSync(RUNTIME, { recursive: true })
  const path = join(RUNTIME, 'setup.lock')
  for (let waited = false; !takeLock(path); waited = true) {
    if (!waited) console.log('Another set-up of this checkout is running; waiting for it.')
    await new Promise((done) => setTimeout(done, 500))
  }
  const release = () => rmSync(path, { force: true })
  process.once('exit', release)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130))
  await work()
  release()
}

/**
 * Returns whether this process got the lock. Removes a lock whose holder is gone, for the next
 * attempt.
 */
function takeLock(path) {
  try {
    const file = openSync(path, 'wx')
    writeSync(file, String(process.pid))
    closeSync(file)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  const holder = readText(path)
  const gone = holder ? !existsSync(`/proc/${holder}`) : ageMs(path) > 5_000
  if (gone) rmSync(path, { force: true })
  return false
}
