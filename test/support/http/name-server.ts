/** A name server on loopback whose answers a test controls; they may be late or never come. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

const HEADER_BYTES = 12
const NAME_ERROR = 3
const TYPES: Record<number, 4 | 6> = { 1: 4, 28: 6 }

/** The answer for a name: IPv4 addresses (none if the name does not exist), or no answer at all. */
export type NameAnswer = readonly string[] | 'silence'

/** Serves until the test ends; queries for IPv6 get an empty answer. */
export async function startNameServer(
  t: TestContext,
  answerOf: (name: string, family: number | undefined) => NameAnswer,
) {
  const socket = createSocket('udp4')
  const queried = new Set<string>()
  let wake = () => {}
  socket.on('message', (question, { port, address }) => {
    const { name, end } = nameIn(question)
    queried.add(name)
    wake()
    const answer = answerOf(name, TYPES[question.readUInt16BE(end)])
    if (answer !== 'silence') socket.send(reply(question, end, answer), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  return {
    server: `127.0.0.1:${socket.address().port}`,
    /** Resolves with the names that were queried once there are `count` of them. */
    async whenAsked(count: number): Promise<readonly string[]> {
      while (queried.size < count)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      return [...queried]
    },
  }
}

function nameIn(question: Buffer): { name: string; end: number } {
  const labels = []
  let at = HEADER_BYTES
  for (let length = question[at]!; length > 0; length = question[at]!) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), end: at + 1 }
}

function reply(question: Buffer, nameEnd: number, addresses: readonly string[]): Buffer {
  const records = TYPES[question.readUInt16BE(nameEnd)] === 4 ? addresses.map(recordOf) : []
  const head = Buffer.from(question.subarray(0, nameEnd + 4))
  head.writeUInt16BE(0x8180 | (addresses.length === 0 ? NAME_ERROR : 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...records])
}

/** An A record, class IN, with a TTL of 0, for the name in the question. */
const recordOf = (address: string): Buffer =>
  Buffer.from([0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)])
