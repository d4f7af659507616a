/** The only loader for the interfaces in proto/. */

import { fileURLToPath } from 'node:url'
import { loadSync, type PackageDefinition } from '@grpc/proto-loader'

const FOLDER = fileURLToPath(new URL('../proto', import.meta.url))

/** Loads a file of proto/, with 64-bit integers as numbers and enum values by name. */
export const loadProto = (file: string): PackageDefinition =>
  loadSync(file, {
    includeDirs: [FOLDER],
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
  })
