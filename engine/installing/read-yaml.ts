/** Reads model configurations as they are published. */
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'

type Tables = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/**
 * Reads a table of tables, and ignores values next to the tables. Python tuples are read as lists.
 * @throws Error naming the file if it is not a table
 */
export async function readYaml(file: string): Promise<Tables> {
  const text = (await readFile(file, 'utf8')).replaceAll('!!python/tuple', '')
  const value: unknown = parse(text)
  const isTable = (x: unknown) => typeof x === 'object' && x !== null && !Array.isArray(x)
  if (isTable(value)) {
    const parts = Object.entries(value as object).filter(([, part]) => isTable(part))
    return Object.fromEntries(parts)
  }
  throw new Error(`${file}: is not a configuration: a table of tables`)
}
