/** Certificates for the parts of a service, which openssl makes. */

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadTls, type Tls } from '../../../shared/process/tls-files.ts'

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

/** Makes an authority in the folder, and a certificate of it for this machine. */
export async function makeTls(folder: string, name: string): Promise<Tls> {
  const openssl = (...words: string[]) =>
    execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' })
  const authority = ['-keyout', `${name}-ca.key`, '-out', `${name}-ca.pem`]
  openssl('req', '-x509', ...KEY, ...authority, '-subj', `/CN=${name} authority`)
  openssl('req', ...KEY, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', '/CN=a part')
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1')
  const signer = ['-CA', `${name}-ca.pem`, '-CAkey', `${name}-ca.key`, '-CAcreateserial']
  const certificate = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', 'names']
  openssl('x509', '-req', ...signer, ...certificate)
  return (await loadTls(tlsFilesOf(folder, name)))!
}

export const tlsFilesOf = (folder: string, name: string) => ({
  certificateFile: join(folder, `${name}.pem`),
  keyFile: join(folder, `${name}.key`),
  caFile: join(folder, `${name}-ca.pem`),
})
