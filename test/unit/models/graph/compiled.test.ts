/**
 * What can be a graph, and what becomes of one. That graphs compute the same as the models' operations
 * is tested with each model, in test/parity.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compiled, compiledBy } from '../../../../models/graph/compiled.ts'
import { WARM_UP_CALLS } from '../../../../models/graph/graph-cache.ts'
import { native, tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'

const values = (x: Tensor): Float32Array => x.dataSync<'float32'>()

test("a function that reads a tensor can't be a graph, and says so; later calls work as usual", () => {
  const reads = compiled((x: Tensor) => tf.tidy(() => x.mul(values(x.add(1))[0]!)))
  const x = tf.scalar(2)
  for (let call = 1; call < WARM_UP_CALLS; call += 1) assert.equal(values(reads(x))[0], 6)
  assert.throws(() => reads(x), /must not read tensors/)
  assert.equal(values(x.add(1))[0], 3)
})

test('a plan is part of the graph, and another plan has another graph', () => {
  const asGraph = compiledBy(({ factor }: { factor: number }, x: Tensor) => x.mul(factor))
  const x = tf.tensor1d([1, 2])
  for (const factor of [2, 3, 2]) {
    for (let call = 0; call <= WARM_UP_CALLS; call += 1)
      assert.deepEqual([...values(asGraph({ factor }, x))], [factor, 2 * factor])
  }
})

test('inputs that were the same tensor need not be the next time', () => {
  const asGraph = compiled((a: Tensor, b: Tensor) => a.sub(b))
  const [x, y] = [tf.tensor1d([5, 6]), tf.tensor1d([1, 1])]
  for (let call = 0; call <= WARM_UP_CALLS; call += 1)
    assert.deepEqual([...values(asGraph(x, x))], [0, 0])
  for (let call = 0; call <= WARM_UP_CALLS; call += 1)
    assert.deepEqual([...values(asGraph(x, y))], [4, 5])
})

const weight = tf.tensor1d([4, 5])

test('inputs and existing tensors can be outputs', () => {
  const asGraph = compiled((x: Tensor) => ({ x: x.clone(), weight: weight.clone() }))
  for (let call = 0; call <= WARM_UP_CALLS; call += 1) {
    const out = asGraph(tf.tensor1d([call]))
    assert.deepEqual([...values(out.x), ...values(out.weight)], [call, 4, 5])
  }
})

test('a graph within a graph becomes part of it; anything but tensors is refused', () => {
  const inner = compiled((x: Tensor) => x.add(1))
  const outer = compiled((x: Tensor) => tf.tidy(() => inner(x).mul(2)))
  const x = tf.scalar(2)
  for (let call = 0; call < WARM_UP_CALLS; call += 1) inner(x)
  for (let call = 0; call < 2 * WARM_UP_CALLS; call += 1) {
    assert.deepEqual([...values(outer(x))], [6])
  }
  const withNumber = compiled((x: Tensor, factor: number) => x.mul(factor))
  assert.throws(() => withNumber(x, 3), /tensors, not a number/)
})

/** More shapes than can have a graph at once. */
const SHAPES = 70

test('graphs that were not used for long are freed, and made again when needed', () => {
  const asGraph = compiled((x: Tensor) => tf.tidy(() => x.mul(2).add(1)))
  const { added, removed, remaining } = functionsDuring(() => {
    for (let round = 0; round < 2; round += 1) {
      for (let size = 1; size <= SHAPES; size += 1) {
        for (let call = 0; call < WARM_UP_CALLS; call += 1) {
          const x = tf.fill([size], call)
          const y = asGraph(x)
          assert.deepEqual([...values(y)], Array(size).fill(2 * call + 1))
          tf.dispose([x, y])
        }
      }
    }
  })
  assert.equal(added.length, 2 * SHAPES)
  assert.equal(new Set(added).size, SHAPES, 'made again, they have the same names')
  const { length } = removed
  assert.ok(length >= SHAPES && length < 2 * SHAPES, `${length} were freed`)
  const run = (name: string) => () => native.binding.executeOp(name, [], [], 1)
  const unused = removed.filter((name) => !remaining.has(name))
  assert.ok(unused.length >= SHAPES - 64)
  for (const name of unused) assert.throws(run(name), /nor a name of a function/)
})

/** Runs `work` and lists the functions it adds and removes, and those that remain. */
function functionsDuring(work: () => void) {
  const { binding } = native
  const [added, removed]: [string[], string[]] = [[], []]
  const remaining = new Set<string>()
  const addFunction = (...words: Parameters<typeof binding.addFunction>) => {
    added.push(words[0])
    remaining.add(words[0])
    binding.addFunction(...words)
  }
  const removeFunction = (name: string) => {
    removed.push(name)
    remaining.delete(name)
    binding.removeFunction(name)
  }
  native.binding = Object.create(binding, {
    addFunction: { value: addFunction },
    removeFunction: { value: removeFunction },
  })
  try {
    work()
  } finally {
    native.binding = binding
  }
  return { added, removed, remaining }
}
