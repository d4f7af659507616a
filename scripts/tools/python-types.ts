/** Makes the types of the Python client from the reviewed API description. */

/** The part of JSON Schema that the description uses. */
interface Schema {
  $ref?: string
  type?: string
  const?: string
  enum?: readonly string[]
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  description?: string
}

type Schemas = Readonly<Record<string, Schema>>

const COLUMNS_MAX = 100
const IDENTIFIER = /^(?!from$)[A-Za-z_]\w*$/ // `from` is a keyword

const HEAD = `# Made by \`npm run winnow -- client-types\` from the API description; do not edit.
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict
`

/** Makes a module with a TypedDict for each of the schemas `names` and all that they refer to. */
export function makePythonTypes(schemas: Schemas, names: readonly string[]): string {
  const module = { schemas, classes: new Map<string, string>() }
  for (const name of names) classOf(module, name, schemas[name])
  return [HEAD, ...module.classes.values()].join('\n\n')
}

interface Module {
  schemas: Schemas
  /** By name; each comes after those that it refers to. */
  classes: Map<string, string>
}

/** Adds the class unless it exists, and returns its name. */
function classOf(module: Module, name: string, schema: Schema | undefined): string {
  if (!schema) throw new Error(`the API description has no schema ${name}`)
  if (!module.classes.has(name)) module.classes.set(name, classText(module, name, schema))
  return name
}

function classText(module: Module, name: string, { properties = {}, ...schema }: Schema): string {
  const isTotal = schema.required !== undefined && schema.required.length > 0
  const fields = Object.entries(properties).map(([field, of]) => {
    const type = typeOf(module, of, name + pascalCase(field))
    const isPresent = !isTotal || schema.required?.includes(field)
    return { name: field, type: isPresent ? type : `NotRequired[${type}]`, comment: of.description }
  })
  if (!fields.every((field) => IDENTIFIER.test(field.name))) {
    const pairs = fields.map((field) => `"${field.name}": ${field.type}`)
    const total = isTotal ? [] : ['total=False,']
    const lines = [`"${name}",`, `{${pairs.join(', ')}},`, ...total]
    return `${block(`${name} = TypedDict(`, lines)})\n`
  }
  const head = isTotal ? `class ${name}(TypedDict):` : `class ${name}(TypedDict, total=False):`
  return block(head, linesOf(fields))
}

function typeOf(module: Module, schema: Schema, name: string): string {
  if (schema.$ref !== undefined) {
    const referred = schema.$ref.split('/').at(-1) ?? ''
    return classOf(module, referred, module.schemas[referred])
  }
  if (schema.const !== undefined) return `Literal[${JSON.stringify(schema.const)}]`
  if (schema.enum) return `Literal[${schema.enum.map((value) => JSON.stringify(value)).join(', ')}]`
  if (schema.anyOf) return schema.anyOf.map((option) => typeOf(module, option, name)).join(' | ')
  if (schema.type === 'array' && schema.items) {
    return `list[${typeOf(module, schema.items, name)}]`
  }
  if (schema.type === 'object') {
    const isFree = Object.keys(schema.properties ?? {}).length === 0
    return isFree ? 'dict[str, Any]' : classOf(module, name, schema)
  }
  const plain = PLAIN[schema.type ?? '']
  if (plain === undefined) throw new Error(`${name} has a type that Python types do not show`)
  return plain
}

const PLAIN: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
}

const pascalCase = (name: string): string =>
  name.replace(/(?:^|[^A-Za-z0-9])([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())

const block = (head: string, lines: readonly string[]): string =>
  [head, ...lines.map((line) => `    ${line}`), ''].join('\n')

interface Field {
  name: string
  type: string
  comment: string | undefined
}

const linesOf = (fields: readonly Field[]): string[] =>
  fields.flatMap(({ name, type, comment = '' }) => [...commentOf(comment), ...typed(name, type)])

/** A field on one line, or with one alternative per line if that would be too long. */
function typed(name: string, type: string): string[] {
  const line = `${name}: ${type}`
  if (line.length + 4 <= COLUMNS_MAX) return [line]
  const [, of = '', listed = ''] = /^(\w+)\[(.*)\]$/.exec(type) ?? []
  return [`${name}: ${of}[`, ...listed.split(', ').map((option) => `    ${option},`), ']']
}

function commentOf(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = `${lines.at(-1) ?? '#'} ${word}`
    if (lines.length > 0 && longer.length + 4 <= COLUMNS_MAX) lines[lines.length - 1] = longer
    else lines.push(`# ${word}`)
  }
  return lines
}
