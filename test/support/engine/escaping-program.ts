/** Runs in a `LimitedProcess` and tries what malicious code in a media file would try. */

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { createSocket } from 'node:dgram'
import { answerCalls } from '../../../engine/media/process/process-rpc-server.ts'

export type Escape =
  | { read: string }
  | { write: string }
  | { list: string }
  | { readByProgram: string }
  | { kill: number }
  | { connect: string | number }
  | { send: number }

/** Resolves if the attempt succeeded. */
answerCalls<Escape>(async (task) => {
  if ('read' in task) return readFileSync(task.read, 'latin1')
  if ('write' in task) return writeFileSync(task.write, 'written')
  if ('list' in task) return readdirSync(task.list)
  if ('readByProgram' in task) return execFileSync('/bin/cat', [task.readByProgram])
  if ('kill' in task) return process.kill(task.kill, 'SIGKILL')
  return 'send' in task ? send(task.send) : connect(task.connect)
})

function connect(to: string | number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = typeof to === 'number' ? connectTcp(to, '127.0.0.1') : connectTcp(to)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
  })
}

function send(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4')
    socket.once('error', reject)
    socket.send('datagram', port, '127.0.0.1', (error) => {
      socket.close()
      if (error) reject(error)
      else resolve()
    })
  })
}
