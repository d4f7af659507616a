/** Maps channels to loudspeakers, as far as each file format can express that. */

import {
  AV_CHANNEL_LAYOUT_5POINT0_BACK,
  AV_CHANNEL_LAYOUT_7POINT0,
  AV_CHANNEL_LAYOUT_OCTAGONAL,
  AV_CHANNEL_LAYOUT_SURROUND,
  AV_CHANNEL_ORDER_NATIVE,
  AV_CHANNEL_ORDER_UNSPEC,
} from 'node-av/constants'
import {
  avChannelLayoutDefault,
  avChannelLayoutDescribe,
  type ChannelLayout,
  type Frame,
} from 'node-av/lib'
import type { OutputFormat } from '../../shared/separation-options.ts'

/** Formats that clients may choose, or the sound track of a video. */
export type SoundFormat = OutputFormat | 'aac'

/** A frame's loudspeakers; where it names none, more than two channels stay without any. */
export const layoutOf = ({ channelLayout }: Frame): ChannelLayout =>
  channelLayout.order === AV_CHANNEL_ORDER_NATIVE
    ? channelLayout
    : unnamed(channelLayout.nbChannels)

/** A layout as the mask of a WAV header; 0n where the loudspeakers are not known. */
export const maskOf = ({ order, mask }: ChannelLayout): bigint =>
  order === AV_CHANNEL_ORDER_NATIVE ? mask : 0n

export const layoutOfMask = (mask: bigint, channels: number): ChannelLayout =>
  mask === 0n ? unnamed(channels) : { order: AV_CHANNEL_ORDER_NATIVE, nbChannels: channels, mask }

const unnamed = (channels: number): ChannelLayout =>
  channels <= 2
    ? avChannelLayoutDefault(channels)
    : { order: AV_CHANNEL_ORDER_UNSPEC, nbChannels: channels, mask: 0n }

/**
 * Loudspeakers that FFmpeg takes into account when it mixes channels into fewer ones: all on the
 * floor, the LFE, and the left and right ones above the front. It leaves out any other.
 */
const MIXED_BY_MEANING = 0x57ffn | (0x3n << 29n)

export const isMixedByMeaning = (layout: ChannelLayout): boolean =>
  maskOf(layout) !== 0n && (maskOf(layout) & ~MIXED_BY_MEANING) === 0n

/** A layout mixed down to fewer channels: without a meaning when they are mixed evenly. */
export const mixedDown = (source: ChannelLayout, channels: number): ChannelLayout =>
  isMixedByMeaning(source) ? avChannelLayoutDefault(channels) : unnamed(channels)

const LFE = 1n << 3n

/** Index of the LFE among the channels; -1: there is none. */
export function lfeChannelOf(mask: bigint): number {
  if ((mask & LFE) === 0n) return -1
  return [0n, 1n, 2n].filter((bit) => (mask & (1n << bit)) !== 0n).length
}

/** The layouts of MP3, which has mono and stereo only. */
const MP3_LAYOUTS: readonly bigint[] = [0x4n, 0x3n]

/** The loudspeakers that WAV and FLAC have names for. */
const WAV_LOUDSPEAKERS = 0x3ffffn

/** FFmpeg's encoder knows these; it treats side and back loudspeakers the same. */
const AAC_LAYOUTS: readonly bigint[] = [
  ...[0x4n, 0x3n], // mono, stereo
  ...[0xbn, 0x7n, 0x103n], // 2.1, 3.0, 3.0(back)
  ...[0x107n, 0x33n, 0x603n, 0xfn], // 4.0, quad, quad(side), 3.1
  ...[0x37n, 0x607n, 0x10fn], // 5.0, 5.0(side), 4.1
  ...[0x3fn, 0x60fn, 0x707n, 0x6c3n, 0x137n], // 5.1, 5.1(side), 6.0, 6.0(front), hexagonal
  ...[0x70fn, 0x13fn, 0x6cbn, 0x637n, 0x6c7n], // 6.1, 6.1(back), 6.1(front), 7.0, 7.0(front)
  ...[0x63fn, 0xffn, 0x6cfn, 0x503fn, 0x737n], // 7.1, 7.1(wide), (wide-side), 5.1.2, octagonal
]

/** Layouts of 3 to 8 channels. An LFE would lose what is above some 300 Hz. */
const WITHOUT_LFE: Readonly<Record<number, ChannelLayout>> = {
  3: AV_CHANNEL_LAYOUT_SURROUND,
  4: avChannelLayoutDefault(4),
  5: AV_CHANNEL_LAYOUT_5POINT0_BACK,
  6: { order: AV_CHANNEL_ORDER_NATIVE, nbChannels: 6, mask: 0x137n }, // hexagonal
  7: AV_CHANNEL_LAYOUT_7POINT0,
  8: AV_CHANNEL_LAYOUT_OCTAGONAL,
}

export interface FileLayout {
  layout: ChannelLayout
  /** Why it is not that of the source, as a line of the log; null: it is. */
  change: string | null
}

/**
 * Returns the layout with as many channels, in the same order, under which a file holds each of
 * them in full.
 * @param lfeHasFullRange whether the LFE has more than low frequencies: see `lfe-range.ts`
 */
export function layoutInFile(
  format: SoundFormat,
  source: ChannelLayout,
  lfeHasFullRange = false,
): FileLayout {
  const mask = maskOf(source)
  const isNamed = isNameable(format, mask)
  const loses = format === 'aac' && lfeHasFullRange && lfeChannelOf(mask) >= 0
  if (isNamed && !loses) return { layout: source, change: null }
  const { nbChannels: channels } = source
  const layout = format === 'wav' ? unnamed(channels) : withoutLfe(channels)
  const name = avChannelLayoutDescribe(source)
  const problem = loses
    ? `The LFE of ${name} holds sound above 300 Hz, which ${format} would leave out`
    : mask === 0n
      ? `Nothing names the loudspeakers of ${channels} channels, and ${format} must`
      : `${format} has no name for the layout ${name}`
  const became =
    maskOf(layout) === 0n
      ? 'the channels are discrete'
      : `the channels are called ${avChannelLayoutDescribe(layout)}, without an LFE`
  return { layout, change: `${problem}: ${became}, in the same order.` }
}

function isNameable(format: SoundFormat, mask: bigint): boolean {
  if (format === 'mp3') return MP3_LAYOUTS.includes(mask)
  if (format === 'aac') return AAC_LAYOUTS.includes(mask)
  if (mask === 0n) return format === 'wav'
  return (mask & ~WAV_LOUDSPEAKERS) === 0n
}

const withoutLfe = (channels: number): ChannelLayout =>
  WITHOUT_LFE[channels] ?? avChannelLayoutDefault(channels)
