/** Which loudspeaker each channel is meant for. */

import { AV_CHANNEL_ORDER_NATIVE } from 'node-av/constants'
import { avChannelLayoutDefault, type ChannelLayout, type Frame } from 'node-av/lib'

/** A frame's loudspeakers or, where it names none, the usual ones for as many channels. */
export function layoutOf({ channelLayout }: Frame): ChannelLayout {
  return channelLayout.order === AV_CHANNEL_ORDER_NATIVE
    ? channelLayout
    : avChannelLayoutDefault(channelLayout.nbChannels)
}

/** A layout as the mask of a WAV header; 0n where the loudspeakers are not known. */
export const maskOf = ({ order, mask }: ChannelLayout): bigint =>
  order === AV_CHANNEL_ORDER_NATIVE ? mask : 0n

export const layoutOfMask = (mask: bigint, channels: number): ChannelLayout =>
  mask === 0n
    ? avChannelLayoutDefault(channels)
    : { order: AV_CHANNEL_ORDER_NATIVE, nbChannels: channels, mask }
