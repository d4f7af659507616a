/**
 * Reads from a database's query plans which tables a statement reads by which index, and which
 * columns it filters row by row.
 */

import { CompiledQuery, createQueryId, sql, type KyselyPlugin, type OperationNode } from 'kysely'
import { isPostgres, type Store } from '../../../gateway/store/database.ts'
import { instead } from '../basics/instead.ts'

type Node = OperationNode & Record<string, any>

/** How a statement finds the rows that it reads from a table. */
interface Access {
  table: string
  /** The indexed columns that locate rows; empty for a scan of the whole table or index. */
  found: string[]
  /** The columns by which rows are discarded after they are read. */
  filtered: string[]
}

/** A query or subquery of a statement. */
interface Scope {
  /** Tables by their alias in the query. */
  tables: Map<string, string>
  columns: string[]
  hasLimit: boolean
}

export interface Schema {
  columns: ReadonlyMap<string, readonly string[]>
  /** The columns of each unique index, which together identify one row. */
  unique: ReadonlyMap<string, readonly string[][]>
  /** The columns in the condition of each partial index. */
  partial: ReadonlyMap<string, readonly string[]>
}

/**
 * Runs `work`, counts its statements, and lists the problems in the database's plans for them.
 * Rolls back all changes.
 * @returns problems such as `scans outbox`, `sorts`, and `filters requests by updated_at`
 */
export async function problemsOf(
  store: Store,
  schema: Schema,
  work: (store: Store) => Promise<unknown>,
): Promise<{ statements: number; problems: string[] }> {
  const problems = new Set<string>()
  let statements = 0
  const undo = new Error('undo')
  const undone = store.transaction().execute(async (transaction) => {
    const nodes: Node[] = []
    if (isPostgres(store)) await sql.raw(SETTINGS).execute(transaction)
    await work(inside(transaction.withPlugin(collect(nodes))))
    statements = nodes.length
    for (const node of nodes) {
      const scopes: Scope[] = []
      collectScopes(node, scopes)
      const plan = isPostgres(store)
        ? await planOfPostgres(transaction, schema, node)
        : await planOfSqlite(transaction, schema, { node, scopes })
      for (const problem of judge(plan, schema, scopes)) problems.add(problem)
    }
    throw undo
  })
  await undone.catch((error: unknown) => {
    if (error !== undo) throw error
  })
  return { statements, problems: [...problems].sort() }
}

/** Makes PostgreSQL scan or sort only when it has no alternative, and skip foreign key checks. */
const UNCHECKED = 'set local session_replication_role = replica'
const SETTINGS = ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin', 'material']
  .map((name) => `set local enable_${name} = off`)
  .concat(UNCHECKED)
  .join(';')

/** Runs nested transactions as parts of the current one. */
function inside(transaction: Store): Store {
  const ended = () => ({ execute: async () => undefined })
  const store: Store = instead(transaction, {
    transaction: () => ({ execute: (work: (store: Store) => unknown) => work(store) }),
    startTransaction: () => ({
      execute: async () => instead(store, { commit: ended, rollback: ended } as never),
    }),
  } as never)
  return store
}

const collect = (nodes: Node[]): KyselyPlugin => ({
  transformQuery({ node }) {
    if (node.kind !== 'RawNode') nodes.push(node)
    return node
  },
  transformResult: async ({ result }) => result,
})

const QUERIES = ['SelectQueryNode', 'UpdateQueryNode', 'DeleteQueryNode']

/** Collects the queries of a statement, each with its own tables and columns. */
function collectScopes(node: unknown, scopes: Scope[], scope?: Scope, isWhere = false): void {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) {
    for (const each of node) collectScopes(each, scopes, scope, isWhere)
    return
  }
  const { kind, ...rest } = node as Node
  if (QUERIES.includes(kind)) {
    scope = { tables: new Map(), columns: [], hasLimit: 'limit' in rest }
    scopes.push(scope)
    isWhere = false
  } else if (kind === 'TableNode') {
    const { name } = rest.table.identifier
    if (!isWhere) scope?.tables.set(name, name)
  } else if (kind === 'AliasNode' && rest.node.kind === 'TableNode') {
    scope?.tables.set(rest.alias.name, rest.node.table.identifier.name)
    return
  } else if (kind === 'ReferenceNode') {
    const column = rest.column.column?.name
    const table = rest.table?.table.identifier.name
    if (isWhere && column) scope?.columns.push(table ? `${table}.${column}` : column)
    return
  }
  for (const [name, value] of Object.entries(rest)) {
    collectScopes(value, scopes, scope, isWhere || name === 'where')
  }
}

interface Plan {
  accesses: Access[]
  sorts: boolean
}

function judge({ accesses, sorts }: Plan, schema: Schema, scopes: Scope[]): string[] {
  const growing = accesses.filter(({ table }) => schema.unique.has(table))
  const problems = sorts && growing.length > 0 ? ['sorts'] : []
  for (const { table, found, filtered } of growing) {
    const uniques = schema.unique.get(table) ?? []
    if (uniques.some((columns) => columns.every((each) => found.includes(each)))) continue
    for (const column of filtered) problems.push(`filters ${table} by ${column}`)
    // A limit bounds the rows read only if they come in index order and without a filter.
    const isBounded = scopes.some(({ hasLimit, tables }) => hasLimit && tables.has(table))
    if (found.length === 0 && !(isBounded && filtered.length === 0 && !sorts)) {
      problems.push(`scans ${table}`)
    }
  }
  return problems
}

const compiled = (store: Store, node: Node, before: string): CompiledQuery => {
  const query = store.getExecutor().compileQuery(node as never, createQueryId())
  return CompiledQuery.raw(`${before} ${query.sql}`, [...query.parameters])
}

async function planOfSqlite(
  store: Store,
  schema: Schema,
  { node, scopes }: { node: Node; scopes: Scope[] },
): Promise<Plan> {
  const { rows } = await store.executeQuery<{ detail: string }>(
    compiled(store, node, 'explain query plan'),
  )
  const accesses: Access[] = []
  for (const { detail } of rows) {
    const [, name = '', index, terms = ''] =
      /^(?:SEARCH|SCAN) (\w+)(?: EXISTS)?(?: USING (?:COVERING )?(?:INDEX )?(\w+)[^(]*(?:\((.*)\))?)?/.exec(
        detail,
      ) ?? []
    const found = terms.match(/\w+/g) ?? []
    const [scope] = scopes
      .filter(({ tables }) => tables.has(name))
      .sort((a, b) => likeness(b, name, schema, found) - likeness(a, name, schema, found))
    const table = scope?.tables.get(name)
    if (!scope || table === undefined) continue // reads the rows of a subquery
    const served = [...found, ...(schema.partial.get(index ?? '') ?? [])]
    const filtered = columnsOf(scope, name, schema).filter((column) => !served.includes(column))
    accesses.push({ table, found, filtered })
  }
  return { accesses, sorts: rows.some(({ detail }) => detail.startsWith('USE TEMP B-TREE')) }
}

/**
 * Scores how likely an access belongs to a query: the query should have conditions on the columns
 * of the index, and few others.
 */
function likeness(scope: Scope, name: string, schema: Schema, found: string[]): number {
  const conditions = columnsOf(scope, name, schema)
  const common = conditions.filter((column) => found.includes(column)).length
  return common - (conditions.length - common) / 100
}

/** Returns the columns of a table that a query has conditions on. */
function columnsOf(scope: Scope, name: string, schema: Schema): string[] {
  const own = schema.columns.get(scope.tables.get(name) ?? '') ?? []
  return scope.columns.flatMap((column) => {
    const [table, qualified] = column.split('.')
    if (qualified === undefined) return own.includes(column) ? [column] : []
    return table === name ? [qualified] : []
  })
}

interface PostgresNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Filter?: string
  Plans?: PostgresNode[]
}

async function planOfPostgres(store: Store, schema: Schema, node: Node): Promise<Plan> {
  const { rows } = await store.executeQuery<{ 'QUERY PLAN': [{ Plan: PostgresNode }] }>(
    compiled(store, node, 'explain (format json)'),
  )
  const plan: Plan = { accesses: [], sorts: false }
  const read = (node: PostgresNode): void => {
    const { 'Node Type': type, 'Relation Name': table, 'Index Cond': condition, Filter } = node
    // PostgreSQL rechecks the condition of a partial index when it locks the row.
    const served = schema.partial.get(node['Index Name'] ?? '') ?? []
    if (type.endsWith('Sort')) plan.sorts = true
    if (table !== undefined && type.endsWith('Scan')) {
      const own = schema.columns.get(table) ?? []
      const columnsIn = (text = '') => own.filter((each) => new RegExp(`\\b${each}\\b`).test(text))
      const filtered = columnsIn(Filter).filter((column) => !served.includes(column))
      plan.accesses.push({ table, found: columnsIn(condition), filtered })
    }
    node.Plans?.forEach(read)
  }
  read(rows[0]!['QUERY PLAN'][0].Plan)
  return plan
}

/** Reads the schema, which both databases share, from SQLite, leaving out the tables in `fixed`. */
export async function readPlanSchema(store: Store, fixed: readonly string[]): Promise<Schema> {
  const tables = await store.introspection.getTables()
  const columns = new Map(
    tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]),
  )
  const unique = new Map<string, string[][]>()
  const partial = new Map<string, string[]>()
  for (const table of columns.keys()) {
    if (fixed.includes(table)) continue
    const { rows } = await sql<{ name: string; isUnique: number; where: string | null }>`
      select name, "unique" as "isUnique",
        (select substr(sql, instr(sql, ' where ')) from sqlite_master as made
          where made.name = list.name and list.partial) as "where"
      from pragma_index_list(${table}) as list`.execute(store)
    const sets: string[][] = []
    for (const { name, isUnique, where } of rows) {
      if (where) partial.set(name, where.match(/\w+/g) ?? [])
      if (!isUnique) continue
      const named = await sql<{ name: string }>`
        select name from pragma_index_info(${name})`.execute(store)
      sets.push(named.rows.map((column) => column.name))
    }
    unique.set(table, sets)
  }
  return { columns, unique, partial }
}

const COPIES = 2_000

/** Copies all rows, under new ids and accounts, until PostgreSQL considers each table large. */
export const addOthers = (store: Store, schema: Schema): Promise<void> =>
  store.transaction().execute(async (store) => {
    await sql.raw(UNCHECKED).execute(store)
    for (const [table, uniques] of schema.unique) {
      const keys = uniques.flat()
      const columns = schema.columns.get(table) ?? []
      const isId = (name: string) =>
        name.endsWith('_id') || (keys.includes(name) && name !== 'position')
      const others = columns.map((name) =>
        isId(name) ? sql`${sql.id(name)} || '-' || n` : sql.id(name),
      )
      await sql`alter table ${sql.table(table)} set (autovacuum_enabled = off)`.execute(store)
      const added = await sql`
        insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.id(name)))})
        select ${sql.join(others)} from ${sql.table(table)}
          cross join generate_series(1, ${sql.lit(COPIES)}) n`.execute(store)
      if (!added.numAffectedRows) throw new Error(`there is no row of ${table} to copy`)
    }
  })
