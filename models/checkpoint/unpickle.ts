/**
 * A reader of Python pickles that can only build dictionaries, lists, tuples and plain values.
 * Every function that a pickle calls is one of ours, and opcodes that checkpoints do not need are
 * refused.
 */

export interface PickleWorld {
  /**
   * Values for the names `module.name`; other names are refused. A pickle can call a function,
   * which gets the list of arguments as its only argument. Anything else is just a value.
   */
  globals: Readonly<Record<string, unknown>>
  /**
   * Whether other names are replaced by `INERT` instead of refused; anything built from them is
   * `INERT` too.
   */
  othersAreInert?: boolean
  /** Returns an object that is stored outside the pickle. */
  persistent(id: unknown): unknown
}

/** Stands for an object whose content is not read. */
export const INERT = Symbol('an object that is not read')

/**
 * Returns the value of a protocol 2 pickle: null, booleans, numbers and strings; tuples and lists
 * as arrays, dictionaries as maps, and the results of `world` for the rest. A list may contain
 * itself.
 * @throws Error naming the opcode or global and its position if it is not plain data
 */
export function unpickle(bytes: Uint8Array, world: PickleWorld): unknown {
  const machine = new Machine(bytes, world)
  for (;;) {
    const place = machine.place
    const opcode = String.fromCharCode(machine.byte())
    if (opcode === STOP) return machine.end()
    const act = Object.hasOwn(ACTIONS, opcode) ? ACTIONS[opcode] : undefined
    if (!act || (opcode === NEW_OBJECT && !world.othersAreInert)) {
      throw new Error(`opcode ${inHexadecimal(opcode)} at byte ${place} is refused`)
    }
    act(machine)
  }
}

const STOP = '.'
const NEW_OBJECT = '\x81'

const ACTIONS: Readonly<Record<string, (machine: Machine) => void>> = {
  '\x80': (m) => m.protocol(),
  '(': (m) => m.mark(),
  ')': (m) => m.push([]),
  t: (m) => m.push(m.popToMark()),
  '\x85': (m) => m.push(m.popMany(1)),
  '\x86': (m) => m.push(m.popMany(2)),
  '\x87': (m) => m.push(m.popMany(3)),
  '}': (m) => m.push(new Map()),
  ']': (m) => m.push([]),
  a: (m) => m.append(m.popMany(1)),
  e: (m) => m.append(m.popToMark()),
  s: (m) => m.setItems(m.popMany(2)),
  u: (m) => m.setItems(m.popToMark()),
  N: (m) => m.push(null),
  '\x88': (m) => m.push(true),
  '\x89': (m) => m.push(false),
  K: (m) => m.push(m.byte()),
  M: (m) => m.push(m.view(2).getUint16(0, true)),
  J: (m) => m.push(m.view(4).getInt32(0, true)),
  '\x8a': (m) => m.push(m.long(m.byte())),
  G: (m) => m.push(m.view(8).getFloat64(0)),
  X: (m) => m.push(m.text(m.unsigned())),
  q: (m) => m.remember(m.byte()),
  r: (m) => m.remember(m.unsigned()),
  h: (m) => m.recall(m.byte()),
  j: (m) => m.recall(m.unsigned()),
  c: (m) => m.global(),
  Q: (m) => m.persistent(),
  R: (m) => m.call(),
  [NEW_OBJECT]: (m) => m.create(),
  b: (m) => m.dropAttributes(),
}

const PROTOCOL = 2

class Machine {
  readonly #bytes: Uint8Array
  readonly #world: PickleWorld
  readonly #stack: unknown[] = []
  /** Stack heights at which the items of tuples and lists begin. */
  readonly #marks: number[] = []
  readonly #memo = new Map<number, unknown>()
  #place = 0

  constructor(bytes: Uint8Array, world: PickleWorld) {
    this.#bytes = bytes
    this.#world = world
  }

  get place(): number {
    return this.#place
  }

  view(length: number): DataView {
    const start = this.#place
    if (start + length > this.#bytes.length) throw new Error(`the pickle is cut short at ${start}`)
    this.#place += length
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + start, length)
  }

  byte(): number {
    return this.view(1).getUint8(0)
  }

  unsigned(): number {
    return this.view(4).getUint32(0, true)
  }

  text(length: number): string {
    return new TextDecoder().decode(this.view(length))
  }

  /** Reads a signed integer of `length` bytes. */
  long(length: number): number {
    const view = this.view(length)
    let value = 0n
    for (let i = length - 1; i >= 0; i -= 1) value = (value << 8n) | BigInt(view.getUint8(i))
    return Number(BigInt.asIntN(8 * length, value))
  }

  protocol(): void {
    const version = this.byte()
    if (version === PROTOCOL) return
    throw new Error(`the pickle has protocol ${version}, not ${PROTOCOL} as torch.save writes it`)
  }

  push(value: unknown): void {
    this.#stack.push(value)
  }

  mark(): void {
    this.#marks.push(this.#stack.length)
  }

  popMany(count: number): unknown[] {
    const start = this.#stack.length - count
    if (start < (this.#marks.at(-1) ?? 0)) throw this.#malformed('takes more than there is')
    return this.#stack.splice(start)
  }

  popToMark(): unknown[] {
    const mark = this.#marks.pop()
    if (mark === undefined) throw this.#malformed('has no beginning of a tuple')
    return this.#stack.splice(mark)
  }

  append(items: unknown[]): void {
    const [list] = this.popMany(1)
    if (list !== INERT) {
      if (!Array.isArray(list)) throw this.#malformed('appends to what is no list')
      for (const item of items) list.push(item)
    }
    this.push(list)
  }

  setItems(items: unknown[]): void {
    const [dictionary] = this.popMany(1)
    if (dictionary === INERT) return this.push(INERT)
    if (!(dictionary instanceof Map)) throw this.#malformed('gives items to what is no dictionary')
    if (items.length % 2 !== 0) throw this.#malformed('has a key without a value')
    for (let i = 0; i < items.length; i += 2) dictionary.set(items[i], items[i + 1])
    this.push(dictionary)
  }

  remember(index: number): void {
    const [value] = this.popMany(1)
    this.#memo.set(index, value)
    this.push(value)
  }

  recall(index: number): void {
    if (!this.#memo.has(index)) throw this.#malformed(`recalls ${index}, which it never gave`)
    this.push(this.#memo.get(index))
  }

  global(): void {
    const name = `${this.#line()}.${this.#line()}`
    const { globals, othersAreInert } = this.#world
    if (Object.hasOwn(globals, name)) return this.push(globals[name])
    if (!othersAreInert) throw new Error(`global ${quoted(name)} is refused`)
    this.push(INERT)
  }

  persistent(): void {
    const [id] = this.popMany(1)
    this.push(this.#world.persistent(id))
  }

  call(): void {
    const [callee, values] = this.popMany(2)
    if (callee === INERT) return this.push(INERT)
    if (typeof callee !== 'function') throw this.#malformed('calls what is no function of ours')
    if (!Array.isArray(values)) throw this.#malformed('calls a function without a tuple')
    this.push(callee(values))
  }

  /**
   * Makes an object of a class in the same way as `call` calls a function; there are no real
   * classes.
   */
  create(): void {
    const [type] = this.popMany(2)
    if (type !== INERT) throw this.#malformed('makes an object of what is no class')
    this.push(INERT)
  }

  /**
   * Drops attributes: a state dict has the versions of its modules in one, which are not needed.
   */
  dropAttributes(): void {
    const [owner] = this.popMany(2)
    if (!(owner instanceof Map) && owner !== INERT)
      throw this.#malformed('gives attributes to what is no dictionary')
    this.push(owner)
  }

  end(): unknown {
    const [value] = this.popMany(1)
    if (this.#stack.length > 0) throw this.#malformed('ends with values to spare')
    return value
  }

  #line(): string {
    const end = this.#bytes.indexOf(0x0a, this.#place)
    if (end < 0) throw this.#malformed('is cut short in a name')
    const line = this.text(end - this.#place)
    this.#place = end + 1
    return line
  }

  #malformed(what: string): Error {
    return new Error(`the pickle ${what}, at byte ${this.#place}`)
  }
}

const inHexadecimal = (opcode: string): string =>
  `0x${opcode.charCodeAt(0).toString(16)} (${quoted(opcode)})`

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200))
