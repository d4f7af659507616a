/** A job's access to files and the network, which simulations replace. */

import { rm } from 'node:fs/promises'
import { fetchPublicSource, fetchSource } from '../media/read/source.ts'
import { uploadOutput } from '../media/write/upload.ts'
import type { OutputThreads } from './outputs/output-threads.ts'
import { Outputs, type OutputsOptions } from './outputs/outputs.ts'
import { makeJobFolder } from './scratch.ts'

/** The files of a job's results while they are written. */
export type JobOutputs = Pick<Outputs, 'sound' | 'write' | 'finish' | 'abort'>

export interface JobMedia {
  makeFolder: typeof makeJobFolder
  removeFolder(folder: string): Promise<void>
  fetchSource: typeof fetchSource
  fetchPublicSource: typeof fetchPublicSource
  openOutputs(options: OutputsOptions): Promise<JobOutputs>
  uploadOutput: typeof uploadOutput
}

/** Uses the disk and the network of this machine. */
export const createJobMedia = (threads: OutputThreads): JobMedia => ({
  makeFolder: makeJobFolder,
  // Retries, because the gateway may still be copying a file into the folder.
  removeFolder: (folder) => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  fetchSource,
  fetchPublicSource,
  openOutputs: (options) => Outputs.open(options, threads),
  uploadOutput,
})
