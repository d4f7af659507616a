/** Makes an operator the way `nsc` does: settings for a server, and credentials for a user. */

import { createHash } from 'node:crypto'
import { createAccount, createOperator, createUser, type KeyPair } from '@nats-io/nkeys'

/** Makes an operator with one account that may use JetStream, and one user in it. */
export function makeNatsCredentials(): { settings: string[]; credentials: string } {
  const [operator, account, system, user] = [
    createOperator(),
    createAccount(),
    createAccount(),
    createUser(),
  ]
  const limits = { subs: -1, conn: -1, leaf: -1, data: -1, payload: -1, imports: -1, exports: -1 }
  const store = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }
  const open = { ...limits, wildcards: true }
  const accountJwt = signed(operator, account, 'account', { limits: { ...open, ...store } })
  const systemJwt = signed(operator, system, 'account', { limits: open })
  const userJwt = signed(account, user, 'user', { subs: -1, data: -1, payload: -1 })
  const operatorJwt = signed(operator, operator, 'operator', {
    system_account: system.getPublicKey(),
  })
  return {
    settings: [
      `operator: "${operatorJwt}"`,
      'resolver: MEMORY',
      `resolver_preload: {`,
      `  ${account.getPublicKey()}: "${accountJwt}"`,
      `  ${system.getPublicKey()}: "${systemJwt}"`,
      '}',
    ],
    credentials: [
      '-----BEGIN NATS USER JWT-----',
      userJwt,
      '------END NATS USER JWT------',
      '',
      '-----BEGIN USER NKEY SEED-----',
      new TextDecoder().decode(user.getSeed()),
      '------END USER NKEY SEED------',
      '',
    ].join('\n'),
  }
}

/** Signs a NATS claim (version 2) about `subject`. */
function signed(issuer: KeyPair, subject: KeyPair, type: string, claims: object): string {
  const body = {
    iat: Math.floor(Date.now() / 1_000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: type,
    nats: { ...claims, type, version: 2 },
  }
  const jti = createHash('sha256').update(JSON.stringify(body)).digest('base64url')
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode({ jti, ...body })}`
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`
}
