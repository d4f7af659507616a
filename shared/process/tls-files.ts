/**
 * TLS between the parts of the service and for admins: gRPC, metrics, the admins' address and the
 * engines' control planes. Files are read at start, so a new certificate takes a restart.
 */

import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { StartError } from './lifecycle.ts'
import type { SettingReader } from './settings.ts'

export interface TlsFiles {
  certificateFile: string | undefined
  keyFile: string
  caFile: string | undefined
}

/** PEM. */
export interface Tls {
  cert: Buffer
  key: Buffer
  /** Signs the certificates of all parts: with it, each shows its own to the other. */
  ca?: Buffer
}

export function readTlsFiles({ optional, text }: SettingReader): TlsFiles {
  const certificateFile = optional('INTERNAL_TLS_CERT')
  return {
    certificateFile,
    keyFile: text('INTERNAL_TLS_KEY', certificateFile === undefined ? '' : undefined),
    caFile: optional('INTERNAL_TLS_CA'),
  }
}

/**
 * Undefined without a certificate.
 * @throws StartError that names the setting
 */
export async function loadTls(files: TlsFiles): Promise<Tls | undefined> {
  const { certificateFile, keyFile, caFile } = files
  if (certificateFile === undefined) {
    if (keyFile === '' && caFile === undefined) return undefined
    throw new StartError(
      'INTERNAL_TLS_CERT must be set with INTERNAL_TLS_KEY or INTERNAL_TLS_CA: without it ' +
        'nothing is encrypted.',
    )
  }
  const tls: Tls = {
    cert: await readNamed('INTERNAL_TLS_CERT', certificateFile),
    key: await readNamed('INTERNAL_TLS_KEY', keyFile),
    ...(caFile !== undefined && { ca: await readNamed('INTERNAL_TLS_CA', caFile) }),
  }
  try {
    createSecureContext(tls)
    return tls
  } catch (cause) {
    const message = `INTERNAL_TLS_CERT, INTERNAL_TLS_KEY: ${(cause as Error).message}`
    throw new StartError(message, { cause })
  }
}

async function readNamed(setting: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new StartError(`${setting}: ${(cause as Error).message}`, { cause })
  }
}

/** For a server over HTTPS: a client must show a certificate if there is an authority. */
export const httpsOptions = (tls: Tls) => ({
  ...tls,
  ...(tls.ca && { requestCert: true, rejectUnauthorized: true }),
})
