/**
 * Checks a history against the promise that every request ends once and is charged at most once.
 * Reads only what clients saw and what the API says at the end, no log and no database.
 */

import {
  isEnd,
  type AccountAtTheEnd,
  type Ask,
  type History,
  type ListedRequest,
} from './history.ts'

/** Errors, besides a cancel, with which a request may be refused or fail in a campaign. */
const CREDITS = ['INSUFFICIENT_CREDITS']

/** Returns a sentence for each violation; none if the promise was kept. */
export function violationsOf(history: History, accounts: readonly AccountAtTheEnd[]): string[] {
  const listed = new Map<number, ListedRequest[]>()
  for (const request of accounts.flatMap(({ requests }) => requests)) {
    listed.set(request.number, [...(listed.get(request.number) ?? []), request])
  }
  return [
    ...history.deaths.map((death) => `a process ended by itself: ${death}`),
    ...history.surprises.map((surprise) => `a client was surprised: ${surprise}`),
    ...history.revokedKeysUsed.map((call) => `a revoked key was taken: ${call}`),
    ...history.asks.flatMap((ask) => wrongWith(ask, listed.get(ask.number) ?? [], history)),
    ...accounts.flatMap((account) => wrongBill(account, history.asks)),
  ]
}

function wrongWith(ask: Ask, matches: readonly ListedRequest[], history: History): string[] {
  const ids = new Set(ask.requestIds)
  const name = `request ${ask.number} (${[...ids].join(', ')})`
  const wrong: string[] = []
  if (ask.refusal !== undefined && !CREDITS.includes(ask.refusal)) {
    wrong.push(`${name} was refused with ${ask.refusal}`)
  }
  if (ids.size > 1) wrong.push(`${name} has several ids for one key`)
  if (matches.length > 1) wrong.push(`${name} exists ${matches.length} times`)
  if (matches.length === 0 && ids.size > 0) wrong.push(`${name} was accepted, and is lost`)
  if (matches.length > 0 && ids.size === 0 && !ask.isUncertain) {
    wrong.push(`${name} was refused with ${ask.refusal}, and exists`)
  }
  const [request] = matches
  if (!request) return wrong
  if (ids.size > 0 && !ids.has(request.requestId)) wrong.push(`${name} is now ${request.requestId}`)
  const { status, code } = request
  if (!isEnd(status)) wrong.push(`${name} never ended: it is ${status}`)
  if (status === 'FAILED' && !mayFail(ask, code)) wrong.push(`${name} failed with ${code}`)
  if (ask.damage !== undefined) wrong.push(`${name}: ${ask.damage}`)
  const statuses = wrongStatuses(ask, request).map((what) => `${name} ${what}`)
  return [...wrong, ...statuses, ...wrongWebhooks(ask, request, history, name)]
}

const mayFail = (ask: Ask, code: string | undefined): boolean =>
  code === 'CANCELED' ? ask.isCanceled : CREDITS.includes(code ?? '')

/** Answers may overtake each other, so only a query sent after the end was seen must report it. */
function wrongStatuses({ statuses }: Ask, request: ListedRequest): string[] {
  const end = statuses.find(({ status }) => isEnd(status))
  if (!end) return []
  const back = statuses.find(
    ({ askedAt, status, code }) => askedAt > end.at && (status !== end.status || code !== end.code),
  )
  const wrong = back ? [`came back from ${end.status} to ${back.status} ${back.code ?? ''}`] : []
  if (request.status !== end.status || request.code !== end.code) {
    wrong.push(
      `was ${end.status} ${end.code ?? ''}, and is ${request.status} ${request.code ?? ''}`,
    )
  }
  return wrong
}

function wrongWebhooks(
  { hasWebhook }: Ask,
  { requestId, status, delivery }: ListedRequest,
  { webhooks }: History,
  name: string,
): string[] {
  const received = webhooks.filter((webhook) => webhook.requestId === requestId)
  if (!hasWebhook) return received.length > 0 ? [`${name} has no webhook, and was told`] : []
  const wrong: string[] = []
  const isTold = received.some(({ answered }) => answered !== undefined && answered < 300)
  const isGone = received.some(({ answered }) => answered === 410)
  if (!isTold && !isGone) wrong.push(`${name} ended, and nobody was told (${delivery})`)
  if (delivery === 'delivered' && received.length === 0) wrong.push(`${name} was told to nobody`)
  for (const field of ['id', 'body'] as const) {
    const values = new Set(received.map((webhook) => webhook[field]))
    if (values.size > 1)
      wrong.push(
        `${name} was told with ${values.size} different ${field === 'id' ? 'ids' : 'bodies'}`,
      )
  }
  if (received.some(({ isSigned }) => !isSigned)) wrong.push(`${name} was told without a signature`)
  const type = `audio.separate.${status.toLowerCase()}`
  const other = received.find(({ body }) => (JSON.parse(body) as { type: string }).type !== type)
  if (other) wrong.push(`${name} is ${status}, and was told otherwise`)
  return wrong
}

/** A completed request is charged once; any other is never charged. */
function wrongBill(account: AccountAtTheEnd, asks: readonly Ask[]): string[] {
  const { name, isMetered, credited, balance, reserved, requests } = account
  const wrong: string[] = []
  const costOf = new Map(asks.map(({ number, cost }) => [number, cost]))
  const used = requests
    .filter(({ status }) => status === 'COMPLETED')
    .reduce((sum, { number }) => sum + (costOf.get(number) ?? 0), 0)
  const due = isMetered ? credited - used : 0
  if (balance !== due) {
    wrong.push(`account ${name} has ${balance} s: ${credited} came, ${used} were used`)
  }
  if (balance < 0) wrong.push(`account ${name} is overdrawn: ${balance} s`)
  if (reserved !== 0) wrong.push(`account ${name} has ${reserved} s reserved for what is over`)
  return wrong
}
