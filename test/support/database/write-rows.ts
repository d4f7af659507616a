/**
 * A program that inserts rows into a SQLite file, eight at a time and until it is killed, and
 * prints the id of each row once it is stored.
 */

import { inTransaction } from '../../../gateway/store/database.ts'
import { openSqlite } from '../../../gateway/store/driver/sqlite.ts'
import { put } from './rows.ts'

const WRITERS = 8

const store = await openSqlite(process.argv[2]!, { migrates: true })
let rows = 0
await Promise.all(
  Array.from({ length: WRITERS }, async () => {
    for (;;) {
      const id = `row-${(rows += 1)}`
      await inTransaction(store, (store) => put(store, id))
      process.stdout.write(`${id}\n`)
    }
  }),
)
