/** Lists the sounds that are heard in a file. */

import { HEARD_SOUNDS_MAX, type HeardSound } from '../../../shared/heard-sounds.ts'
import type { TaggedFile } from './tagged-file.ts'

/** Sounds are listed only if they are more probable than not. */
const MATCH_MIN = 0.5

/**
 * Lists sounds by the share of the file that they fill, largest first. A group is listed if
 * something of its kind is heard but no member is certain enough.
 */
export function heardSounds(file: TaggedFile): HeardSound[] {
  const { classes, groups } = file.config
  const classesHeard = classes.names.flatMap((name) => occurrencesOf(file, name))
  const listed = new Set(classesHeard.map(({ name }) => classes.names.indexOf(name)))
  const smallFirst = groups.members
    .map((members, i) => ({ name: groups.names[i]!, members }))
    .sort((a, b) => a.members.length - b.members.length)
  const groupsHeard = smallFirst.flatMap(({ name, members }) => {
    if (members.some((member) => listed.has(member))) return []
    const occurrences = occurrencesOf(file, name)
    if (occurrences.length > 0) for (const member of members) listed.add(member)
    return occurrences
  })
  return [...classesHeard, ...groupsHeard]
    .sort((a, b) => b.share * b.match - a.share * a.match)
    .slice(0, HEARD_SOUNDS_MAX)
}

function occurrencesOf(file: TaggedFile, name: string): HeardSound[] {
  const sound = file.sound(name)
  if (!sound || sound.unasked < MATCH_MIN) return []
  const { spans, share, unasked: match } = sound
  return [{ name, spans, share, match }]
}
