/** The kinds of requests, and how a job tells its kind. */

import { DEFAULT_OPTIONS, type SeparationOptions } from './separation-options.ts'

/** `separate` extracts sounds from media; `sounds` lists the sounds in it. */
export const REQUEST_KINDS = ['separate', 'sounds'] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

/**
 * The model that lists sounds. No client and no installed model may use this name. Jobs with it
 * have their own queue, so that engines without the tagger never take them.
 */
export const TAGGER = 'tagger'

/** Returns the kind of a request with these options. */
export const kindOf = ({ separator }: Pick<SeparationOptions, 'separator'>): RequestKind =>
  separator === TAGGER ? 'sounds' : 'separate'

/** The options of a request for a list of sounds. */
export const soundsOptions = (
  given: Pick<SeparationOptions, 'audio_track'>,
): SeparationOptions => ({ ...DEFAULT_OPTIONS, ...given, separator: TAGGER })
