/**
 * A program that takes the write lock of a SQLite file, reports it, and holds it until its input
 * ends.
 */

import { once } from 'node:events'
import { SqliteDatabase } from '../../../gateway/store/driver/sqlite.ts'

const database = new SqliteDatabase(process.argv[2]!)
database.exec('begin immediate')
process.stdout.write('held\n')
await once(process.stdin.resume(), 'end')
database.exec('commit')
database.close()
