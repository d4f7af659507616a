/** A program: has the right to write to a SQLite file, and says so, until its input ends. */

import { once } from 'node:events'
import { SqliteDatabase } from '../../../gateway/store/driver/sqlite.ts'

const database = new SqliteDatabase(process.argv[2]!)
database.exec('begin immediate')
process.stdout.write('held\n')
await once(process.stdin.resume(), 'end')
database.exec('commit')
database.close()
