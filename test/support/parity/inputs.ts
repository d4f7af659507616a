/** The inputs of a reference run: the `inputs` in its MANIFEST.json. */

export type Anchor = readonly [sign: '+' | '-', start: number, end: number]

/** The texts of a batch and, if the manifest states them, the number of samples of each wave. */
export interface BatchInputs {
  texts: readonly string[]
  lengths?: readonly number[]
}

export interface SeparateInputs extends BatchInputs {
  /** Numbers of evaluations, in cases such as `plain.s12`: twice the number of steps. */
  steps?: readonly number[]
  /** Anchors of each wave, in the cases `anchors.…`. */
  anchors?: readonly (readonly Anchor[])[]
  stereo_text: string
}

export interface Inputs {
  sample_rate?: number
  hop?: number
  separate: SeparateInputs
  span_predictor: {
    texts?: readonly string[]
    /** How many frames of the batch's second wave `nomask.audio_embeds` has. */
    unmasked_frames?: number
  }
  judge?: BatchInputs
  t5?: { texts: readonly string[] }
}

/** Inputs of the first reference run, whose manifest has no `inputs`. */
const FIRST_RUN: Inputs = {
  separate: {
    texts: ['man speaking', 'a dog barking loudly in the distance'],
    stereo_text: 'a dog barking',
  },
  span_predictor: {},
}

type Check = (value: unknown) => boolean
type Rules = { readonly [name: string]: Check | Rules }

const isPositive: Check = (value) => Number.isSafeInteger(value) && (value as number) > 0
const isText: Check = (value) => typeof value === 'string'
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(check)
const isAnchor: Check = (value) =>
  Array.isArray(value) &&
  value.length === 3 &&
  (value[0] === '+' || value[0] === '-') &&
  value.slice(1).every(Number.isFinite)
const isAnchorList: Check = (value) => Array.isArray(value) && value.every(isAnchor)

const RULES: Rules = {
  sample_rate: isPositive,
  hop: isPositive,
  separate: {
    texts: listOf(isText),
    lengths: listOf(isPositive),
    steps: listOf((value) => isPositive(value) && (value as number) % 2 === 0),
    anchors: listOf(isAnchorList),
    stereo_text: isText,
  },
  span_predictor: { texts: listOf(isText), unmasked_frames: isPositive },
  judge: { texts: listOf(isText), lengths: listOf(isPositive) },
  t5: { texts: listOf(isText) },
}

/**
 * Returns the inputs that a manifest states, or those of the first run if it states none.
 * @param file path of the manifest, for errors
 * @throws Error naming the file and each input that is missing or invalid
 */
export function inputsOf(file: string, stated: unknown): Inputs {
  if (stated === undefined) return FIRST_RUN
  const faults = [...faultsIn('inputs', stated, RULES)]
  if (faults.length === 0) faults.push(...countFaults(stated as Inputs))
  if (faults.length > 0) throw new Error(faults.map((fault) => `${file}: ${fault}`).join('\n'))
  return stated as Inputs
}

function* faultsIn(path: string, value: unknown, rules: Rules): Generator<string> {
  if (typeof value !== 'object' || value === null) {
    yield `${path} must be an object with ${Object.keys(rules).join(', ')}`
    return
  }
  for (const [name, rule] of Object.entries(rules)) {
    const found = (value as Record<string, unknown>)[name]
    const at = `${path}.${name}`
    if (typeof rule !== 'function') yield* faultsIn(at, found, rule)
    else if (!rule(found)) yield `${at} is not as it must be: ${JSON.stringify(found) ?? 'missing'}`
  }
}

/** Checks that each list has one entry for each text. */
function countFaults({ separate, judge }: Inputs): string[] {
  const lists = [
    ['separate.lengths', separate.lengths, separate.texts],
    ['separate.anchors', separate.anchors, separate.texts],
    ['judge.lengths', judge?.lengths, judge?.texts],
  ] as const
  return lists.flatMap(([name, list, texts]) =>
    list?.length === texts?.length
      ? []
      : [`inputs.${name} has ${list?.length} entries for ${texts?.length} texts`],
  )
}
