/**
 * The core of a job: takes the mixture, and writes it with its targets, using one model or several.
 */

import { laneOwnerOf } from '../lane-owner.ts'
import type { Level } from '../../../models/lanes/level.ts'
import type { ModelDescription } from '../../../models/model.ts'
import type { TaggerConfig } from '../../../models/tagger/config.ts'
import { ServiceError } from '../../../shared/errors.ts'
import { assertSpansBegin } from '../../../shared/media-limits.ts'
import type { Finding } from '../../../shared/finding.ts'
import type { Job } from '../../../shared/messages.ts'
import {
  isWithout,
  routePrompt,
  type Question,
  type Route,
} from '../../../shared/prompts/route-prompt.ts'
import { kindOf } from '../../../shared/request-kind.ts'
import { promptsOf } from '../../../shared/separation-options.ts'
import { beginTraceSpan } from '../../../shared/telemetry/tracing.ts'
import type { Mixture } from '../../media/read/mixture.ts'
import { SampleQueue } from '../chunks.ts'
import { findingOf, promptFinding, type SoundEvidence } from '../findings/findings.ts'
import { describeWork } from '../reports/job-log.ts'
import { LaneSpans } from './lane-spans.ts'
import { planMix, type MixPlan } from '../outputs/mix-plan.ts'
import { ModelPass, type PassDeps, type PassPrompt } from './model-pass.ts'
import type { SeparatedSounds } from '../outputs/mix.ts'
import { TagPass } from '../findings/tag-pass.ts'
import { TaggedFile, type Tags } from '../findings/tagged-file.ts'

interface SeparationDeps extends Pick<
  PassDeps,
  'scheduler' | 'resampling' | 'config' | 'signal' | 'checkpoint'
> {
  /** The engine's models, the preferred one first. */
  models: readonly ModelDescription[]
  /** Null if nothing is tagged. */
  tagger: TaggerConfig | null
  /** Length of the mixture in seconds, as far as it is known before decoding. */
  secondsExpected: number
  /** Measures the whole mixture for models that need its levels; if absent, chunks are measured. */
  measureLevels?(): Promise<readonly Level[]>
  log(message: string): void
  /** Takes the next samples and their memory. */
  write(separated: SeparatedSounds): Promise<void>
  /** From 0 to 1. */
  onProgress(progress: number): void
}

/** A prompt, and which part of which pass answers it. */
interface Answer {
  prompt: string
  route: Route
  pass: ModelPass
  /** Index among the prompts of the pass. */
  index: number
}

/** What was found out during a separation. */
interface SeparatedMixture {
  /** Length of the mixture. */
  samples: number
  /** One for each prompt. */
  findings: Finding[]
  /** Null if nothing was tagged. */
  tagged: TaggedFile | null
}

/**
 * Separates `mixture` and passes it with its targets to `write`, in order. The mixture passes once
 * through each model that answers a prompt, however many prompts that model answers, and once
 * through the tagger.
 * @throws ServiceError INVALID_PARAMETER for a span beyond the end, or a prompt that no model
 *   answers; whatever decoding or a model throws
 */
export async function separateMixture(
  job: Job,
  mixture: Mixture,
  deps: SeparationDeps,
): Promise<SeparatedMixture> {
  // Once one lane has failed, computing the job's other lanes would be a waste.
  const stop = new AbortController()
  const signal = AbortSignal.any([deps.signal, stop.signal])
  const failing = { signal, onFailed: (error: unknown) => stop.abort(error) }
  const routed = routesOf(job, deps.models)
  const { sampleRate, channels, channelMask } = mixture
  const { secondsExpected } = deps
  const levels = await levelsFor(routed, deps)
  const sound = { sampleRate, channels, channelMask, secondsExpected, levels }
  const answers = answersOf(job, routed, sound, { ...deps, ...failing })
  const passes = [...new Set(answers.map(({ pass }) => pass))]
  const tagging = openTagging(job, mixture, { ...deps, ...failing })
  const takers = tagging ? [...passes, tagging] : passes
  const outputs = new OutputCollector(answers, mixture.channels, deps.write)
  const decoding = beginTraceSpan('decode')
  try {
    await resume(job, mixture, passes, deps)
    for await (const block of mixture.blocks()) {
      outputs.add(block)
      await Promise.all(takers.map((taker) => taker.push(block)))
      await outputs.emit(outputs.ready)
    }
    decoding.end()
    assertSpansBegin(job.options.spans, outputs.samples / mixture.sampleRate)
    const tagged = tagging?.finish()
    await Promise.all([tagged, ...passes.map((pass) => pass.finish())])
    await outputs.emit(outputs.samples)
    return { samples: outputs.samples, ...conclude(job, answers, outputs.plan, await tagged, deps) }
  } catch (error) {
    stop.abort(error)
    throw error
  } finally {
    decoding.end({ code: 'INTERRUPTED' }) // no effect if it has ended
    await Promise.all(takers.map((taker) => taker.close()))
  }
}

/** Continues where an earlier attempt was interrupted, if some of its work is stored. */
async function resume(
  { prompt, options }: Job,
  { sampleRate, channels, channelMask }: Mixture,
  passes: readonly ModelPass[],
  { checkpoint, log }: Pick<SeparationDeps, 'checkpoint' | 'log'>,
): Promise<void> {
  if (!checkpoint) return
  const work = {
    ...{ prompt, options, sampleRate, channels, channelMask: String(channelMask) },
    passes: passes.map(({ model: { name, weightsSha256, precision }, plan, prompts }) => {
      return { name, weightsSha256, precision, plan, prompts }
    }),
  }
  const problem = await checkpoint.open(work)
  for (const pass of passes) pass.resume()
  const share = () => progressOf(passes)
  checkpoint.begin(share)
  const from = (100 * share()).toFixed(0)
  if (share() > 0) log(`Resumed at ${from} %: an earlier attempt has separated so much.`)
  else if (problem) log(`${problem} This attempt began at 0 %.`)
}

const progressOf = (passes: Iterable<ModelPass>): number =>
  Math.min(0.99, ...[...passes].map(({ progress }) => progress))

function openTagging(
  job: Job,
  { sampleRate }: Mixture,
  { tagger, ...deps }: SeparationDeps & { onFailed(error: unknown): void },
): TagPass | null {
  return tagger && new TagPass(laneOwnerOf(job), sampleRate, { ...deps, tagger })
}

/**
 * Returns the names of the models that a job uses; empty for a job that `separateMixture` refuses.
 */
export function modelsFor(job: Job, models: readonly ModelDescription[]): string[] {
  if (kindOf(job.options) === 'sounds') return []
  try {
    return [...new Set(routesOf(job, models).map(({ route }) => route.model))]
  } catch (error) {
    if (error instanceof ServiceError) return []
    throw error
  }
}

type RoutedPrompt = Pick<Answer, 'prompt' | 'route'>

const routesOf = (
  { prompt: first, options }: Job,
  models: readonly ModelDescription[],
): RoutedPrompt[] =>
  promptsOf(first, options).map((prompt) => ({
    prompt,
    route: routePrompt(prompt, models, options.separator),
  }))

/** Undefined if no model involved needs levels. */
async function levelsFor(
  routed: readonly RoutedPrompt[],
  { models, measureLevels }: SeparationDeps,
) {
  const isAsked = ({ name }: ModelDescription) => routed.some(({ route }) => route.model === name)
  const areNeeded = models.some((model) => model.needsLevels && isAsked(model))
  return areNeeded ? await measureLevels?.() : undefined
}

/** Groups prompts into passes; one pass answers all prompts of one model. */
function answersOf(
  job: Job,
  routed: readonly RoutedPrompt[],
  sound: ConstructorParameters<typeof ModelPass>[2],
  deps: SeparationDeps & { onFailed(error: unknown): void },
): Answer[] {
  const { models, onProgress } = deps
  const spans = new LaneSpans()
  const passes = new Map<string, ModelPass>()
  const passCount = new Set(routed.map(({ route }) => route.model)).size
  const progressed = () => onProgress(progressOf(passes.values()))
  for (const model of models) {
    const prompts = routed.filter(({ route }) => route.model === model.name)
    if (prompts.length === 0) continue
    const sounds = prompts.map(({ route }) => soundsOf(route, job))
    const passDeps = { ...deps, spans, passes: passCount, onProgress: progressed }
    passes.set(model.name, new ModelPass(job, { model, prompts: sounds }, sound, passDeps))
  }
  return routed.map(({ prompt, route }, i) => {
    const before = routed.slice(0, i).filter((other) => other.route.model === route.model)
    return { prompt, route, pass: passes.get(route.model)!, index: before.length }
  })
}

/** Lists the sounds of a route. A sound that people want removed is never softened. */
function soundsOf(route: Route, { options: { side } }: Job): PassPrompt {
  const { wanted, unwanted } = route
  const isRest = side === 'residual' && unwanted.length === 0
  return [...wanted, ...unwanted].map((question, i) => {
    const isUnwanted = i >= wanted.length
    const { sound: prompt, stems } = question
    return { prompt, stems, isUnwanted, ...((isUnwanted || isRest) && { keepsLevel: true }) }
  })
}

/** Describes prompts that are not simply the name of a sound. */
const describeRoutes = (answers: readonly Answer[]): string[] =>
  answers.flatMap(({ prompt, route }) => {
    const { wanted, unwanted, model } = route
    const list = [...wanted, ...unwanted].flatMap(({ stems }) => stems)
    const allBut = isWithout(route) ? 'all but ' : ''
    if (list.length > 0) {
      const what = `${list.length === 1 ? 'the stem' : 'the sum of the stems'} ${list.join(', ')}`
      return [`"${prompt}" is ${allBut}${what} of ${model}.`]
    }
    if (wanted.length + unwanted.length === 1 && allBut === '') return []
    const sum = (questions: readonly Question[]) =>
      questions.map(({ sound }) => sound).join(' and ')
    const less = wanted.length > 0 && unwanted.length > 0 ? ` without ${sum(unwanted)}` : ''
    return [`"${prompt}" is read as ${allBut}${sum(allBut === '' ? wanted : unwanted)}${less}.`]
  })

/** Summarises and logs what models and tagger found out about each prompt. */
function conclude(
  { options }: Job,
  answers: readonly Answer[],
  plan: MixPlan,
  tags: Tags | undefined,
  { tagger, log }: Pick<SeparationDeps, 'tagger' | 'log'>,
): Pick<SeparatedMixture, 'findings' | 'tagged'> {
  const tagged = tagger && tags ? new TaggedFile(tags, tagger) : null
  const same = sameAs(answers, plan)
  const soundsOfAnswers = answers.map((answer) => evidenceFor(answer, tagged))
  const findings = answers.map(({ route }, i) => ({
    ...promptFinding(soundsOfAnswers[i]!, route.reading.asked),
    model: route.model,
    ...(same[i] !== undefined && { same_as: same[i] }),
  }))
  const prompts = answers.flatMap(({ prompt, pass: { model, prompts: own, work }, index }, i) =>
    own[index]!.map((sound, k) => ({
      prompt: own[index]!.length === 1 ? prompt : sound.prompt,
      model,
      work: work[index]![k]!,
      finding: model.answers === 'stems' ? findings[i]! : findingOf(soundsOfAnswers[i]![k]!),
    })),
  )
  const passes = [...new Set(answers.map(({ pass }) => pass))]
  const lines = describeWork(options, passes, prompts)
  for (const line of [...describeRoutes(answers), ...lines, ...describeSame(answers, same)]) {
    log(line)
  }
  return { findings, tagged }
}

/**
 * Returns what is known about each sound of an answer. A stem does not tell which sounds it
 * contains, so for stems this is what the tagger found about each requested sound.
 */
function evidenceFor({ pass, index, route }: Answer, tagged: TaggedFile | null): SoundEvidence[] {
  const taggedAs = (name: string | null) => (name === null ? null : (tagged?.sound(name) ?? null))
  if (pass.model.answers === 'stems') {
    return route.reading.asked.map(({ sound: prompt, excluded: isUnwanted }) => ({
      ...{ prompt, isUnwanted, work: [] },
      tagged: taggedAs(prompt),
    }))
  }
  return pass.prompts[index]!.map(({ prompt, isUnwanted }, k) => {
    const work = pass.work[index]![k]!
    const { understoodAs = prompt } = work[0] ?? {}
    return { prompt, isUnwanted, work, tagged: taggedAs(understoodAs) }
  })
}

/** Returns for each prompt the earlier prompt with the same meaning; undefined if there is none. */
function sameAs(answers: readonly Answer[], { recipeOf }: MixPlan): (string | undefined)[] {
  return recipeOf.map((recipe, i) => {
    const first = recipeOf.indexOf(recipe)
    return first < i ? answers[first]!.prompt : undefined
  })
}

const describeSame = (answers: readonly Answer[], same: readonly (string | undefined)[]) =>
  answers.flatMap(({ prompt }, i) =>
    same[i] === undefined
      ? []
      : [`"${prompt}" is read as the same sound as "${same[i]}", and shares its output.`],
  )

/** Collects the mixture and the sounds of all prompts, as far as every pass has come. */
class OutputCollector {
  readonly #answers: readonly Answer[]
  readonly #passes: readonly ModelPass[]
  readonly #mixture: SampleQueue
  readonly #write: SeparationDeps['write']
  #plan: MixPlan | null = null
  #written = 0
  /** Length of the mixture so far. */
  samples = 0

  constructor(answers: readonly Answer[], channels: number, write: SeparationDeps['write']) {
    this.#answers = answers
    this.#passes = [...new Set(answers.map(({ pass }) => pass))]
    this.#mixture = new SampleQueue(channels)
    this.#write = write
  }

  /** How targets are made, which is decided by what the models say about the first chunk. */
  get plan(): MixPlan {
    return (this.#plan ??= planMix(
      this.#answers.map(({ pass, index, route: { model } }) => ({
        model,
        sounds: pass.prompts[index]!.map((sound, k) => {
          const { understoodAs, substitute } = pass.work[index]![k]![0] ?? {}
          return { ...sound, understoodAs, substitute }
        }),
      })),
    ))
  }

  /** Adds the next block of the mixture, which is kept. */
  add(block: Float32Array[]): void {
    this.#mixture.push(block)
    this.samples += block[0]?.length ?? 0
  }

  /** How many samples can be written. */
  get ready(): number {
    return Math.min(this.samples, ...this.#passes.map(({ ready }) => ready))
  }

  /** Writes up to sample `end`. */
  async emit(end: number): Promise<void> {
    const [start, samples] = [this.#written, end - this.#written]
    if (samples <= 0) return
    const mixture = this.#mixture.read(start, samples)
    this.#mixture.dropBefore(end)
    this.#written = end
    const read = new Map(this.#passes.map((pass) => [pass, pass.read(start, samples)]))
    const sounds = this.#answers.flatMap(({ pass, index }) => {
      const before = pass.prompts.slice(0, index).flat().length
      return read.get(pass)!.slice(before, before + pass.prompts[index]!.length)
    })
    await this.#write({ mixture, sounds, plan: this.plan })
  }
}
