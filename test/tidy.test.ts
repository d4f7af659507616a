/**
 * Checks the rules of structure: which rooms may import which, where packages are used, and how long
 * files, lines and functions are. How texts read is for people: `npm run prose` is their adviser.
 */

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const MAY_IMPORT: Record<string, readonly string[]> = {
  shared: ['package.json'], // the version
  models: [],
  gateway: ['shared'],
  engine: ['shared', 'models'],
  clients: [],
  web: ['clients', 'shared'],
}
const FREE = ['scripts', 'bench', 'test', 'examples']

/** One home per package. */
const HOMES: [packages: RegExp, homes: readonly string[]][] = [
  [/^@?fastify/, ['gateway/']],
  [/^(kysely|better-sqlite3|pg$)/, ['gateway/store/']],
  [/^prom-client/, ['shared/telemetry/metrics.ts']],
  [/^@nats-io\//, ['shared/broker/']],
  [
    /^(@grpc\/|grpc-health-check)/,
    ['shared/proto.ts', 'shared/engine-control.ts', 'engine/control-server.ts', 'gateway/grpc/'],
  ],
  [/^node-av/, ['engine/media/']],
  [/^openid-client/, ['gateway/accounts/oidc.ts']],
  [
    /^koffi/,
    [
      'engine/gpu/nvml.ts',
      'engine/media/process/sandbox.mjs',
      'engine/media/process/shared-memory.ts',
      'models/tensorflow/tensor-float-32.ts',
      'shared/process/',
    ],
  ],
  [/^(@modelcontextprotocol\/|zod)/, ['shared/mcp/', 'gateway/routes/mcp.ts', 'scripts/cli/mcp/']],
  [/^@opentelemetry\//, ['shared/telemetry/tracing.ts']],
  [/^protobufjs/, ['models/graph/', 'models/checkpoint/tensorflow-checkpoint.ts']],
  [/^@tensorflow\//, ['models/tensorflow/tensor.ts', 'models/tensorflow/bfloat16.ts']],
]

/** Written by `npm run winnow -- client-types`. */
const GENERATED = 'clients/typescript/api.ts'

const LINES_MAX = 400
const COLUMNS_MAX = 100
const COLUMNS_MAX_OF_TESTS = 120
const FUNCTION_LINES_MAX = 60

interface Source {
  path: string
  text: string
  imports: string[]
}

const sources: Source[] = [...Object.keys(MAY_IMPORT), ...FREE]
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((file) => join(folder, String(file))),
  )
  .filter((path) => /\.(tsx?|mjs)$/.test(path) && path !== GENERATED)
  .filter((path) => !/node_modules|\/(dist|venv)\//.test(path))
  .map(readSource)

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const imports = [...text.matchAll(/^(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]/gms)]
    .concat([...text.matchAll(/^import\s+['"]([^'"]+)['"]/gm)])
    .concat([...text.matchAll(/\b(?:import|require)\(['"]([^'"]+)['"]\)/g)])
    .map((match) => match[1] ?? '')
  return { path, text, imports }
}

const ruled = sources.filter(({ path }) => path.split('/')[0]! in MAY_IMPORT)

/** The path from the root that a relative import means, or null for a package. */
const targetOf = (source: Source, name: string) =>
  name.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(source.path), name)) : null

test('the sources are found', () => assert.ok(ruled.length > 40, `${ruled.length} files`))

test('folders import only those they may', () => {
  for (const source of ruled) {
    const folder = source.path.split('/')[0] ?? ''
    for (const name of source.imports) {
      const target = targetOf(source, name)?.split('/')[0]
      if (!target || target === folder) continue
      assert.ok(MAY_IMPORT[folder]?.includes(target), `${source.path} may not import ${name}`)
    }
  }
})

test('folders that settings name are made by makeFolder: that of Node may never end', () => {
  for (const { path, text } of sources) {
    if (!/^(gateway|engine|shared|scripts\/cli)\//.test(path)) continue
    assert.doesNotMatch(text, /\bmkdir\([^()]*(\([^()]*\))?[^()]*recursive: true/, path)
  }
})

test('test/support/ is all of test/ that others import, and needs nothing else of it', () => {
  for (const source of sources) {
    if (source.path.startsWith('test/') && !source.path.startsWith('test/support/')) continue
    for (const name of source.imports) {
      const target = targetOf(source, name)
      if (!target?.startsWith('test/')) continue
      assert.match(target, /^test\/support\//, `${source.path} may not import ${name}`)
    }
  }
})

test('bench uses scripts and test/support, and neither uses bench or the tools of scripts', () => {
  for (const source of sources) {
    const from = /^(scripts|test\/support)\//.exec(source.path)?.[1]
    const mayNot = from === 'scripts' ? /^bench\// : /^(bench|scripts\/tools)\//
    for (const name of from === undefined ? [] : source.imports) {
      const target = targetOf(source, name) ?? ''
      assert.doesNotMatch(target, mayNot, `${source.path} may not import ${name}`)
    }
  }
})

/** The gateway's rooms, from the one that may use all others to the one that uses none. */
const GATEWAY_ROOMS: readonly (readonly string[])[] = [
  ['main'],
  ['app'],
  ['gateway'],
  ['routes', 'grpc'],
  ['operations'],
  ['requests'],
  ['webhooks', 'files', 'accounts'],
  ['api'],
  ['store'],
  ['media-store'],
]
/** On top of the gateway, for every room. */
const GATEWAY_COMMON = ['config', 'loop', 'supervisor', 'secrets']
/** Who may use `operations`. */
const OPERATORS = ['main', 'app', 'gateway', 'routes']

/** `gateway/requests/submit/submit.ts` is in the room `requests`, `gateway/app.ts` in a room of its own. */
const roomOf = (path: string): string => path.split('/')[1]?.replace(/\.ts$/, '') ?? ''

test('every file of the gateway is in a room', () => {
  const rooms = [...GATEWAY_ROOMS.flat(), ...GATEWAY_COMMON]
  for (const { path } of ruled) {
    if (path.startsWith('gateway/')) assert.ok(rooms.includes(roomOf(path)), path)
  }
})

test('imports inside the gateway go one way, type imports included', () => {
  const floor = (room: string) => GATEWAY_ROOMS.findIndex((rooms) => rooms.includes(room))
  for (const source of ruled.filter(({ path }) => path.startsWith('gateway/'))) {
    const from = roomOf(source.path)
    for (const name of source.imports) {
      const target = targetOf(source, name)
      if (!target?.startsWith('gateway/')) continue
      const to = roomOf(target)
      if (from === to || GATEWAY_COMMON.includes(from) || GATEWAY_COMMON.includes(to)) continue
      assert.ok(floor(from) < floor(to), `${source.path} may not import ${name}`)
      assert.ok(
        to !== 'operations' || OPERATORS.includes(from),
        `${source.path} may not import ${name}: only ${OPERATORS.join(', ')} use operations`,
      )
    }
  }
})

/** Rooms of other folders, likewise; those of one floor do not use each other. */
const FLOORS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  engine: [['operations'], ['installing', 'job'], ['compute', 'media'], ['gpu', 'threads']],
  'engine/job': [['separation'], ['reports'], ['findings'], ['checkpoint', 'outputs']],
  'engine/media': [['process'], ['write'], ['read']],
  models: [
    ['audiosep', 'htdemucs', 'mini', 'roformer', 'sam-audio', 'scnet', 'spleeter'],
    ['graph', 'lanes'],
    ['installed', 'memory', 'text'],
    ['layers'],
    ['checkpoint'],
    ['tensorflow'],
  ],
  scripts: [['tools'], ['cli'], ['setup']],
  web: [['parts'], ['state']],
  'web/parts': [['admin', 'history', 'new', 'result']],
}

test('imports between the rooms of a folder go one way', () => {
  for (const [folder, floors] of Object.entries(FLOORS)) {
    const floorOf = (path: string) => {
      const room = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/')[0]! : ''
      return { room, floor: floors.findIndex((rooms) => rooms.includes(room)) }
    }
    for (const room of floors.flat()) {
      assert.ok(existsSync(join(ROOT, folder, room)), `${folder} has no ${room}`)
    }
    for (const source of sources) {
      const from = floorOf(source.path)
      for (const name of from.floor < 0 ? [] : source.imports) {
        const to = floorOf(targetOf(source, name) ?? '')
        const isDown = to.floor < 0 || to.room === from.room || to.floor > from.floor
        assert.ok(isDown, `${source.path} may not import ${name}`)
      }
    }
  }
})

test('property tests draw by the seed of the run', () => {
  const importers = sources.filter(({ imports }) => imports.includes('fast-check'))
  assert.deepEqual(
    importers.map(({ path }) => path),
    ['test/support/basics/property.ts'],
    'other files import fc from there',
  )
})

test('each package has one home', () => {
  for (const source of ruled) {
    for (const name of source.imports) {
      const home = HOMES.find(([packages]) => packages.test(name))?.[1]
      if (!home) continue
      assert.ok(
        home.some((place) => source.path.startsWith(place)),
        `${source.path} imports ${name}, whose home is ${home.join(' and ')}`,
      )
    }
  }
})

/** The parts of the client that need more than a browser has. */
const NODE_CLIENT = ['node', 'download', 'webhook'].map((name) => `clients/typescript/${name}.ts`)

test('the client needs web APIs alone, and Node only where it says so', () => {
  for (const { path, imports } of ruled) {
    if (!path.startsWith('clients/')) continue
    const allowed = NODE_CLIENT.includes(path) ? /^(node:|\.\/)/ : /^\.\//
    for (const name of imports) {
      assert.match(name, allowed, path)
      if (NODE_CLIENT.includes(path)) continue
      assert.doesNotMatch(name, /(node|download|webhook)\.ts$/, path)
    }
  }
})

test('no import goes in a circle, type imports included', () => {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const done = new Set<string>()
  const visit = (path: string, above: readonly string[]): void => {
    assert.ok(!above.includes(path), `a circle: ${[...above, path].join(' → ')}`)
    const source = byPath.get(path)
    if (!source || done.has(path)) return
    for (const name of source.imports) {
      const target = targetOf(source, name)
      if (target) visit(target, [...above, path])
    }
    done.add(path)
  }
  for (const { path } of sources) visit(path, [])
})

/** What they set must hold before, and wherever, TensorFlow computes. */
const READERS_OF_ENV = ['models/tensorflow/tensor.ts', 'models/graph/xla.ts']

test('only main.ts and scripts read the environment', () => {
  for (const { path, text } of ruled) {
    if (path.endsWith('/main.ts') || path === 'web/state/snippet.ts') continue // it shows code
    assert.ok(
      !/\bprocess\.env\b/.test(text) || READERS_OF_ENV.includes(path),
      `${path} reads process.env`,
    )
  }
})

test('a request comes to its end only with what belongs to the end', () => {
  for (const { path, text } of ruled) {
    if (path === 'gateway/requests/follow/finish-request.ts') continue
    assert.ok(
      !/moveRequest\([^)]*\bto: '(COMPLETED|FAILED)'/.test(text),
      `${path} ends a request without finish-request.ts`,
    )
  }
})

test('files, lines and functions stay readable', () => {
  const component = 'const A = () => (\n  <p>\n    a =&gt; b\n  </p>\n)\n'
  assert.deepEqual(functionLengths('a.tsx', component), [{ name: 'A', length: 5 }], 'JSX is seen')
  const tooLong = sources.flatMap(({ path, text }) => {
    const lines = text.split('\n')
    const isTest = path.startsWith('test/')
    const linesMax = isTest ? Infinity : LINES_MAX
    const columnsMax = isTest ? COLUMNS_MAX_OF_TESTS : COLUMNS_MAX
    const wide = lines.flatMap((line, i) =>
      [...line].length > columnsMax ? [`${path}:${i + 1} has ${[...line].length} columns`] : [],
    )
    const functions = isTest ? [] : functionLengths(path, text)
    return [
      ...(lines.length > linesMax ? [`${path} has ${lines.length} lines`] : []),
      ...wide,
      ...functions
        .filter(({ length }) => length > FUNCTION_LINES_MAX)
        .map(({ name, length }) => `${path}: ${name} has ${length} lines`),
    ]
  })
  assert.deepEqual(tooLong, [])
})

interface FunctionLength {
  name: string
  length: number
}

/**
 * Every function with a body, methods and arrow functions too, from its first line to its last.
 * The path says whether the text has JSX.
 */
function functionLengths(path: string, text: string): FunctionLength[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line
  const found: FunctionLength[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const start = node.getStart()
      const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : null)
      const name = named?.getText() ?? `the function of line ${lineAt(start) + 1}`
      found.push({ name, length: lineAt(node.end) - lineAt(start) + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

test('nothing is left half done or switched off', () => {
  for (const { path, text } of sources) {
    if (path === 'test/tidy.test.ts') continue
    assert.ok(!/\b(TODO|FIXME|XXX|HACK)\b/.test(text), `${path} has a TODO`)
    assert.ok(!/@ts-(ignore|nocheck)/.test(text), `${path} switches the types off`)
    assert.ok(!/\btest\.(only|skip|todo)\(/.test(text), `${path} skips or singles out a test`)
  }
})

test('relative links of documents lead somewhere', () => {
  const below = ['docs', 'models', 'bench', 'examples', 'clients', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => join(folder, String(name))),
  )
  const documents = [...readdirSync(ROOT), ...below].filter((path) => path.endsWith('.md'))
  assert.ok(documents.length > 20, `${documents.length} documents`)
  const broken = documents.flatMap((path) => {
    const links = [
      ...readFileSync(join(ROOT, path), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g),
    ]
    return links
      .map(([, link = '']) => join(dirname(path), link))
      .filter((target) => !existsSync(join(ROOT, target)))
      .map((target) => `${path}: ${target}`)
  })
  assert.deepEqual(broken, [])
})

test('files that the architecture names exist', () => {
  const text = readFileSync(join(ROOT, 'docs/explain/architecture.md'), 'utf8')
  const paths = [...text.matchAll(/`((?:gateway|engine|models|shared|test)\/[\w./-]+)`/g)]
  assert.ok(paths.length >= 15, `${paths.length} paths`)
  for (const [, path = ''] of paths) assert.ok(existsSync(join(ROOT, path)), path)
})
