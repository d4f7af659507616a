/**
 * A program that inserts rows into a SQLite file, eight at a time, and prints the id of each row
 * once it is stored, with the monotonic time in nanoseconds.
 */

import { inTransaction } from '../../../gateway/store/database.ts'
import { openSqlite } from '../../../gateway/store/driver/sqlite.ts'
import { put } from './rows.ts'

const WRITERS = 8

const store = await openSqlite(process.argv[2]!, { migrates: true })
let rows = 0
await Promise.allSettled(
  Array.from({ length: WRITERS }, async () => {
    for (;;) {
      const id = `row-${(rows += 1)}`
      await inTransaction(store, (store) => put(store, id))
      process.stdout.write(`${id} ${process.hrtime.bigint()}\n`)
    }
  }),
)
process.stdout.write('refused\n', () => process.exit())
