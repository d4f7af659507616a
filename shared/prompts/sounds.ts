/** Relations between sounds, by their English names in the tables. */

/** Names that mean everything except one sound. */
export const COMPLEMENTS: ReadonlyMap<string, string> = new Map([
  ['noise', 'speech'],
  ['instrumental', 'vocals'],
])

const VOICES = ['woman', 'man', 'child', 'whisper']
const SINGING = ['singing', 'vocals']
const DRUMS = [
  ...['drum kit', 'kick drum', 'snare drum', 'hi-hat', 'cymbal', 'toms', 'congas', 'tambourine'],
  ...['timpani', 'steel drum'],
]
const GUITARS = ['acoustic guitar', 'electric guitar']
const KEYBOARDS = ['piano', 'harpsichord', 'organ', 'accordion']
const BOWED = ['violin', 'cello', 'strings']
const BRASS = ['trumpet', 'trombone', 'french horn']
const WOODWINDS = ['saxophone', 'clarinet', 'oboe', 'flute']

/** Each group with the sounds that belong to it. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  speech: VOICES,
  voice: [...VOICES, ...SINGING, 'speech', 'laughter', 'scream', 'baby', 'crowd'],
  vocals: ['singing'],
  singing: ['vocals'],
  crowd: ['applause', 'laughter'],
  music: [
    ...[...DRUMS, ...GUITARS, ...KEYBOARDS, ...BOWED, ...BRASS, ...WOODWINDS],
    ...['drums', 'guitar', 'bass', 'banjo', 'sitar', 'harp', 'vibraphone', 'synth', 'bagpipe'],
    ...['keyboard instrument', 'bowed instrument', 'brass', 'woodwind', 'other'],
  ],
  drums: DRUMS,
  'drum kit': ['drums', 'kick drum', 'snare drum', 'hi-hat', 'cymbal', 'toms'],
  guitar: GUITARS,
  'keyboard instrument': [...KEYBOARDS, 'synth'],
  'bowed instrument': BOWED,
  strings: ['violin', 'cello', 'bowed instrument'],
  brass: BRASS,
  woodwind: WOODWINDS,
  animal: [
    ...['dog', 'cat meowing', 'horse', 'farm animal', 'chicken', 'rooster', 'bird chirping'],
    ...['bee', 'crickets'],
  ],
  'farm animal': ['horse', 'chicken', 'rooster'],
  vehicle: [
    ...['helicopter', 'airplane', 'car engine', 'motorcycle', 'train passing', 'car horn'],
    'train horn',
  ],
  water: ['rain', 'sea', 'stream', 'water dripping', 'splash', 'bubbles'],
  'household appliance': ['vacuum cleaner', 'fan'],
  effects: ['footsteps', 'door', 'knock', 'gunshot', 'explosion', 'glass breaking'],
}

/** Whether it is part of a song's music, for someone who asks for the music without it. */
export const isPartOfSong = (name: string): boolean =>
  name !== 'music' && (isPartOf(name, 'music') || [...SINGING, 'voice'].includes(name))

/** Whether `part` is the same sound as `whole`, or one of its kinds. */
export const isPartOf = (part: string, whole: string): boolean =>
  part === whole || (Object.hasOwn(PARTS, whole) && PARTS[whole]!.includes(part))

/** The groups of a list of sounds, in order; the last is for those that are in none. */
const GROUPS: readonly [title: string, whole: string | null][] = [
  ['Voices', 'voice'],
  ['Drums', 'drums'],
  ['Music', 'music'],
  ['Animals', 'animal'],
  ['Vehicles', 'vehicle'],
  ['Water', 'water'],
  ['Household', 'household appliance'],
  ['Effects', 'effects'],
  ['Others', null],
]

/** Sorts sounds into groups, each sound into the first that it belongs to; no group is empty. */
export function groupSounds(names: readonly string[]): { group: string; sounds: string[] }[] {
  const groups = GROUPS.map(([group, whole]) => ({ group, whole, sounds: [] as string[] }))
  for (const name of names) {
    const fits = ({ whole }: { whole: string | null }) => whole === null || isPartOf(name, whole)
    groups.find(fits)!.sounds.push(name)
  }
  return groups
    .filter(({ sounds }) => sounds.length > 0)
    .map(({ group, sounds }) => ({ group, sounds: sounds.sort((a, b) => a.localeCompare(b)) }))
}
