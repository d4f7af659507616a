/** What the tagger says of the sounds in a file, by their names. */

import type { TaggerConfig } from '../../models/tagger/config.ts'
import {
  calibrated,
  FileTags,
  grouped,
  type StepLogits,
  type TaggerAnswer,
} from '../../models/tagger/decisions.ts'

/** Parts of a song that the tagger knows by other names. */
const OTHER_NAMES: Readonly<Record<string, string>> = { vocals: 'singing' }

export interface SoundTag extends Omit<TaggerAnswer, 'similarTo'> {
  /** The name of a relative that explains what is heard; null unless `state` is `similar`. */
  similarTo: string | null
}

export class SoundTags {
  readonly #config: TaggerConfig
  readonly #classes: FileTags
  readonly #groups: FileTags

  /** @param logits of the whole file, [steps · classes] */
  constructor(logits: Float32Array, config: TaggerConfig) {
    const { classes, groups } = config
    const width = classes.names.length
    const byClass = calibrated({ values: logits, width }, classes.calibration)
    const { most } = classes.calibration
    const members = grouped(byClass, groups.members, most)
    const byGroup: StepLogits = calibrated(members, groups.calibration)
    this.#config = config
    this.#classes = new FileTags(byClass, classes.relatives, classes.rules)
    const none = groups.names.map(() => [])
    this.#groups = new FileTags(byGroup, none, groups.rules)
  }

  /** @param sound the name of a sound, or of a group of them; undefined: the tagger knows none */
  answer(sound: string): SoundTag | undefined {
    const name = OTHER_NAMES[sound] ?? sound
    const { classes, groups } = this.#config
    const place = classes.names.indexOf(name)
    if (place >= 0) return this.#named(this.#classes.answer(place))
    const group = groups.names.indexOf(name)
    return group >= 0 ? this.#named(this.#groups.answer(group)) : undefined
  }

  /** All classes that are found, those with the largest share of the file first. */
  found(): { name: string; tag: SoundTag }[] {
    return this.#config.classes.names
      .map((name, place) => ({ name, tag: this.#named(this.#classes.answer(place)) }))
      .filter(({ tag }) => tag.state === 'found')
      .sort((one, other) => other.tag.share - one.tag.share)
  }

  #named({ similarTo, ...answer }: TaggerAnswer): SoundTag {
    const { names } = this.#config.classes
    return { ...answer, similarTo: similarTo === null ? null : names[similarTo]! }
  }
}
