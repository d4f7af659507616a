/**
 * Stores the gateway's local addresses in a file of its data folder, so that commands find it
 * whatever its ports are.
 */

import { readFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { writeWhole } from './write-whole.ts'

const FILE = 'address'

/**
 * Writes the addresses of this process, readable only by its user, replacing earlier ones.
 * @param adminUrl where its admin API is
 * @returns a function that removes it, unless another gateway has written its own since
 */
export async function writeOwnAddress(
  folder: string,
  url: string,
  adminUrl = url,
): Promise<() => Promise<void>> {
  const path = join(folder, FILE)
  const text = `${url}\nprocess ${process.pid} on ${hostname()}\n${adminUrl}\n`
  await writeWhole(path, text, 0o600)
  return async () => {
    if ((await readFile(path, 'utf8').catch(() => '')) === text) await rm(path, { force: true })
  }
}

/**
 * Returns the address of the gateway that runs on the folder. Undefined if none runs, if its folder
 * belongs to another user, or if a killed gateway left the file and its process no longer exists.
 */
export const readOwnAddress = (folder: string): string | undefined => readAddresses(folder)?.url

/** Returns the address of its admin API, likewise. */
export const readOwnAdminAddress = (folder: string): string | undefined =>
  readAddresses(folder)?.adminUrl

function readAddresses(folder: string): { url: string; adminUrl: string } | undefined {
  const [url = '', holder = '', adminUrl] = read(join(folder, FILE)).split('\n')
  const [, pid, host] = /^process (\d+) on (.+)$/.exec(holder) ?? []
  if (pid === undefined || !URL.canParse(url)) return undefined
  if (host === hostname() && !isRunning(Number(pid))) return undefined
  return { url, adminUrl: adminUrl || url }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
