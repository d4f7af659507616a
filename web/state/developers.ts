/** Calls of the developers' view: the account's keys, its webhooks and the clients to install. */

import type { components } from '../../clients/typescript/api.ts'
import { refusal } from '../../clients/typescript/errors.ts'
import { Transport } from '../../clients/typescript/transport.ts'
import { clientOptions } from './credential.ts'
import { SERVICE } from './service.ts'

type Schemas = components['schemas']

export type Key = Schemas['ApiKey']
export type NewKey = Schemas['NewApiKey']
export type Keys = Schemas['OwnKeyList']
export type Attempt = Schemas['WebhookAttemptList']['data'][number]

export type Endpoint = Schemas['WebhookEndpoint']
export type NewEndpoint = Schemas['NewWebhookEndpoint']
export type EndpointDelivery = Schemas['EndpointDeliveryList']['data'][number]

/** A package of a client that the gateway serves. */
export interface ClientPackage {
  language: 'typescript' | 'python'
  file_name: string
  sha256: string
}

const ask = <T>(method: string, path: string, body?: object): Promise<T> =>
  new Transport(clientOptions()).json(method, path, { ...(body && { body }), isRepeatable: false })

const keyPath = (keyId: string) => `/v1/account/keys/${encodeURIComponent(keyId)}`

export const readKeys = () => ask<Keys>('GET', '/v1/account/keys')

export const createKey = (key: Schemas['CreateOwnKeyRequest']) =>
  ask<NewKey>('POST', '/v1/account/keys', key)

export const rotateKey = (keyId: string) => ask<NewKey>('POST', `${keyPath(keyId)}/rotate`)

export const revokeKey = (keyId: string) => ask<Key>('DELETE', keyPath(keyId))

export const readAttempts = () =>
  ask<{ data: Attempt[] }>('GET', '/v1/webhook-attempts').then(({ data }) => data)

const ENDPOINTS = '/v1/webhook-endpoints'

export const readEndpoints = () =>
  ask<{ data: Endpoint[] }>('GET', ENDPOINTS).then(({ data }) => data)

export const createEndpoint = (endpoint: Schemas['CreateEndpointRequest']) =>
  ask<NewEndpoint>('POST', ENDPOINTS, endpoint)

/** The calls of one endpoint. */
export const endpointCalls = ({ endpoint_id: id }: Pick<Endpoint, 'endpoint_id'>) => {
  const path = `${ENDPOINTS}/${encodeURIComponent(id)}`
  return {
    enable: (enabled: boolean) => ask<Endpoint>('PATCH', path, { enabled }),
    rotate: () => ask<NewEndpoint>('POST', `${path}/rotate`),
    remove: () => new Transport(clientOptions()).delete(path),
    test: () => ask<Schemas['WebhookTestResult']>('POST', `${path}/test`),
    replay: (since: string) =>
      ask<Schemas['Replay']>('POST', `${path}/replay`, { since, only_failed: true }),
    deliveries: () => ask<{ data: EndpointDelivery[] }>('GET', `${path}/deliveries?limit=20`),
  }
}

/** The packages that the gateway serves; for anybody. */
export async function readPackages(): Promise<ClientPackage[]> {
  const reply = await fetch(`${SERVICE}/clients`)
  if (!reply.ok) throw refusal(await reply.text(), reply)
  return ((await reply.json()) as { data: ClientPackage[] }).data
}

/** The line that installs a package from here. */
export const installLine = ({ language, file_name: name, sha256 }: ClientPackage): string =>
  language === 'typescript'
    ? `npm install ${SERVICE}/clients/winnow-client.tgz`
    : `pip install '${SERVICE}/clients/${name}#sha256=${sha256}'`
