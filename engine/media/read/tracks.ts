/** Chooses among the audio tracks of a file, and says what was chosen and what was left out. */

import {
  AV_DISPOSITION_COMMENT,
  AV_DISPOSITION_DUB,
  AV_DISPOSITION_HEARING_IMPAIRED,
  AV_DISPOSITION_KARAOKE,
  AV_DISPOSITION_VISUAL_IMPAIRED,
  AV_NOPTS_VALUE,
  AVMEDIA_TYPE_AUDIO,
  type AVDisposition,
} from 'node-av/constants'
import { avGetCodecName, type Stream } from 'node-av/lib'

/** By how many seconds tracks of the same length may differ; frames of all codecs are shorter. */
const LENGTH_TOLERANCE = 0.1
/** How many tracks are listed individually. */
const LISTED_MAX = 8
const TITLE_CHARACTERS_MAX = 60

/** FFmpeg's names for tracks that are not the main one. */
const PURPOSES: readonly (readonly [AVDisposition, string])[] = [
  [AV_DISPOSITION_COMMENT, 'commentary'],
  [AV_DISPOSITION_DUB, 'dubbed'],
  [AV_DISPOSITION_KARAOKE, 'karaoke'],
  [AV_DISPOSITION_VISUAL_IMPAIRED, 'audio description'],
  [AV_DISPOSITION_HEARING_IMPAIRED, 'for the hard of hearing'],
]

/** In the order of the file; clients count them from 1. */
export const soundTracks = (streams: readonly Stream[]): Stream[] =>
  streams.filter(({ codecpar }) => codecpar.codecType === AVMEDIA_TYPE_AUDIO)

/**
 * Whether the tracks of the file are two channels of one sound, as cameras and field recorders
 * write their microphones: two mono tracks with the same codec, rate, length, language and title.
 */
export function arePair(streams: readonly Stream[]): boolean {
  const [left, right, ...more] = soundTracks(streams)
  if (!left || !right || more.length > 0) return false
  return (
    [left, right].every((track) => track.codecpar.channels === 1 && purposeOf(track) === null) &&
    left.codecpar.codecId === right.codecpar.codecId &&
    left.codecpar.sampleRate === right.codecpar.sampleRate &&
    tagOf(left, 'language') === tagOf(right, 'language') &&
    tagOf(left, 'title') === tagOf(right, 'title') &&
    isNear(lengthOf(left), lengthOf(right)) &&
    isNear(secondsOf(left, left.startTime), secondsOf(right, right.startTime))
  )
}

const isNear = (a: number | null, b: number | null): boolean =>
  a === null || b === null ? a === b : Math.abs(a - b) <= LENGTH_TOLERANCE

/**
 * Returns the length in seconds. For Matroska it comes from a tag, because FFmpeg gives every track
 * the length of the file.
 */
function lengthOf(track: Stream): number | null {
  const [, hours, minutes, seconds] =
    /^(\d+):(\d+):(\d+(?:\.\d+)?)$/.exec(tagOf(track, 'DURATION') ?? '') ?? []
  return seconds === undefined
    ? secondsOf(track, track.duration)
    : Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
}

const secondsOf = ({ timeBase: { num, den } }: Stream, ticks: bigint): number | null =>
  ticks === AV_NOPTS_VALUE ? null : (Number(ticks) * num) / den

/** Returns sentences for the log; none if there is only one track. */
export function describeTracks(
  streams: readonly Stream[],
  { chosen, isPaired }: { chosen: Stream; isPaired: boolean },
): string[] {
  const tracks = soundTracks(streams)
  if (tracks.length < 2) return []
  if (isPaired) {
    return [
      'The file has 2 tracks of one channel each that differ only in their sound: they are read ' +
        'as the two channels of one mixture. Set audio_track to read one of them.',
    ]
  }
  const number = tracks.findIndex(({ index }) => index === chosen.index)
  const others = tracks.map(describeTrack).filter((_, i) => i !== number)
  const more = others.length > LISTED_MAX ? ` and ${others.length - LISTED_MAX} more` : ''
  return [
    `The file has ${tracks.length} tracks of sound. Track ${describeTrack(chosen, number)} is ` +
      `separated; left out: ${others.slice(0, LISTED_MAX).join(', ')}${more}. ` +
      'Set audio_track to read another.',
  ]
}

/** For example "2 (fre, ac3, 6 channels, commentary)". */
function describeTrack(track: Stream, i: number): string {
  const { codecId, channels } = track.codecpar
  const title = tagOf(track, 'title')
  const language = tagOf(track, 'language')
  const parts = [
    language === 'und' ? null : language,
    avGetCodecName(codecId),
    `${channels} channel${channels === 1 ? '' : 's'}`,
    purposeOf(track),
    title && `"${title}"`,
  ]
  return `${i + 1} (${parts.filter(Boolean).join(', ')})`
}

function purposeOf(track: Stream): string | null {
  return PURPOSES.find(([disposition]) => track.hasDisposition(disposition))?.[1] ?? null
}

function tagOf({ metadata }: Stream, name: string): string | null {
  const text = metadata?.get(name)?.replace(/\p{Cc}+/gu, ' ')
  return text ? [...text].slice(0, TITLE_CHARACTERS_MAX).join('') : null
}
