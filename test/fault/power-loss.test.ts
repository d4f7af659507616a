/** The disk of a SQLite database loses power under load; everything stored must still be there. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { SqliteDatabase } from '../../gateway/store/driver/sqlite.ts'
import { mountLossyDisk, whyNoLossyDisk } from '../support/machine/lossy-disk.ts'

const PROGRAM = fileURLToPath(new URL('../support/database/write-rows.ts', import.meta.url))
/** Rows stored before the loss: the larger number is beyond several checkpoints of the write-ahead log. */
const ROWS = [50, 5_000]

const skip = whyNoLossyDisk() ?? false

for (const count of ROWS) {
  test(
    `no row that was stored is lost when the power fails after ${count} of them`,
    { skip },
    async (t) => {
      const disk = await mountLossyDisk(t, 128)
      const path = join(disk.folder, 'winnow.db')
      const writer = spawn(process.execPath, ['--import', 'tsx', PROGRAM, path], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const exited = once(writer, 'exit')
      t.after(() => writer.kill('SIGKILL'))
      const stored: { id: string; at: bigint }[] = []
      let cutAt = 0n
      for await (const line of createInterface(writer.stdout)) {
        if (line === 'refused') break
        const [id = '', at = ''] = line.split(' ')
        stored.push({ id, at: BigInt(at) })
        if (stored.length === count) cutAt = disk.losePower()
      }
      writer.kill('SIGKILL')
      await exited
      disk.restore()

      const database = new SqliteDatabase(path)
      const keptIds = new Set(database.prepare('select message_id from outbox').pluck().all())
      const isWhole = database.pragma('integrity_check', { simple: true })
      database.close()
      assert.equal(isWhole, 'ok')
      assert.ok(stored.length >= count)
      assert.deepEqual(
        stored.filter(({ id, at }) => at < cutAt && !keptIds.has(id)),
        [],
      )
    },
  )
}
