/** The kinds of requests, and how a job shows its kind. */

import { DEFAULT_OPTIONS, type SeparationOptions } from './separation-options.ts'

/** `separate`: sounds out of the media; `sounds`: a list of what is in it. */
export const REQUEST_KINDS = ['separate', 'sounds'] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

/**
 * The model that lists sounds, which no client and no installed model may name. A job that names it
 * is in a queue of its own, so that engines that do not have it never take such a job.
 */
export const TAGGER = 'tagger'

/** The kind of a request with these options. */
export const kindOf = ({ separator }: Pick<SeparationOptions, 'separator'>): RequestKind =>
  separator === TAGGER ? 'sounds' : 'separate'

/** The options of a request for a list of sounds. */
export const soundsOptions = (
  given: Pick<SeparationOptions, 'audio_track'>,
): SeparationOptions => ({ ...DEFAULT_OPTIONS, ...given, separator: TAGGER })
