/** The only loader for the interfaces in proto/, and the credentials of servers and clients. */

import { fileURLToPath } from 'node:url'
import * as grpc from '@grpc/grpc-js'
import { loadSync, type PackageDefinition } from '@grpc/proto-loader'
import type { Tls } from './process/tls-files.ts'

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

/** With an authority, a server takes only clients with a certificate that it has signed. */
export const serverCredentials = (tls: Tls | undefined): grpc.ServerCredentials =>
  tls === undefined
    ? grpc.ServerCredentials.createInsecure()
    : grpc.ServerCredentials.createSsl(
        tls.ca ?? null,
        [{ private_key: tls.key, cert_chain: tls.cert }],
        tls.ca !== undefined,
      )

/** A client shows its own certificate where there is an authority for both. */
export function channelCredentials(tls: Tls | undefined): grpc.ChannelCredentials {
  if (tls === undefined) return grpc.credentials.createInsecure()
  if (tls.ca === undefined) return grpc.credentials.createSsl()
  return grpc.credentials.createSsl(tls.ca, tls.key, tls.cert)
}
