/** Decodes the first picture of a video the way a player shows it. */

import {
  AV_FRAME_FLAG_INTERLACED,
  AV_FRAME_FLAG_TOP_FIELD_FIRST,
  AV_PIX_FMT_YUV420P,
  AVCOL_RANGE_JPEG,
  AVCOL_SPC_BT2020_NCL,
  AVCOL_SPC_BT709,
  type AVColorPrimaries,
  type AVColorSpace,
  type AVColorTransferCharacteristic,
} from 'node-av/constants'
import { Codec, CodecContext, Frame } from 'node-av/lib'
import { isVideo, pixelAspectOf } from '../../../engine/media/read/open-media.ts'
import { PacketReader } from '../../../engine/media/read/packet-reader.ts'

interface FirstPicture {
  width: number
  height: number
  /** Pixel aspect ratio as stated by the container, and by the coded stream. */
  pixelAspect: { container: number; coding: number }
  matrix: AVColorSpace
  primaries: AVColorPrimaries
  transfer: AVColorTransferCharacteristic
  isFullRange: boolean
  /** Which field comes first; null for progressive video. */
  firstField: 'top' | 'bottom' | null
  /** Rows of each plane, without padding. */
  planes: Buffer[][]
  /** Red, green and blue, from 0 to 255. */
  rgbAt(x: number, y: number): number[]
}

/** Reads the first picture of a video with 8-bit 4:2:0 pictures. */
export async function firstPicture(path: string): Promise<FirstPicture> {
  const reader = await PacketReader.open(path, isVideo)
  const { stream } = reader
  const decoder = new CodecContext()
  const frame = new Frame()
  frame.alloc()
  try {
    decoder.allocContext3(Codec.findDecoder(stream.codecpar.codecId))
    decoder.parametersToContext(stream.codecpar)
    await decoder.open2()
    while ((await decoder.receiveFrame(frame)) < 0) {
      await decoder.sendPacket((await reader.next()) ? reader.packet : null)
    }
    const [container, coding] = [pixelAspectOf(stream), frame.sampleAspectRatio]
    return {
      ...describe(frame),
      pixelAspect: { container: container.toDouble(), coding: coding.toDouble() },
    }
  } finally {
    frame.free()
    decoder.freeContext()
    await reader.close()
  }
}

function describe(frame: Frame): Omit<FirstPicture, 'pixelAspect'> {
  const { width, height, format, linesize, colorSpace: matrix } = frame
  if (format !== AV_PIX_FMT_YUV420P) throw new Error(`pixels of the format ${format}`)
  const isFullRange = frame.colorRange === AVCOL_RANGE_JPEG
  const planes = frame.data!.map((plane, p) => {
    const [columns, rows] = p === 0 ? [width, height] : [width / 2, height / 2]
    return Array.from({ length: rows }, (_, row) =>
      Buffer.from(plane.subarray(row * linesize[p]!, row * linesize[p]! + columns)),
    )
  })
  const isTopFirst = frame.hasFlags(AV_FRAME_FLAG_TOP_FIELD_FIRST)
  return {
    width,
    height,
    matrix,
    primaries: frame.colorPrimaries,
    transfer: frame.colorTrc,
    isFullRange,
    firstField: frame.hasFlags(AV_FRAME_FLAG_INTERLACED) ? (isTopFirst ? 'top' : 'bottom') : null,
    planes,
    rgbAt(x, y) {
      const [luma, blue, red] = planes.map((plane, p) =>
        p === 0 ? plane[y]![x]! : plane[Math.floor(y / 2)]![Math.floor(x / 2)]!,
      )
      return toRgb([luma!, blue!, red!], matrix, isFullRange)
    },
  }
}

/** Weights of red and blue in luma. Players assume those of SD video by default. */
const sharesOf = (matrix: AVColorSpace): [number, number] =>
  matrix === AVCOL_SPC_BT709
    ? [0.2126, 0.0722]
    : matrix === AVCOL_SPC_BT2020_NCL
      ? [0.2627, 0.0593]
      : [0.299, 0.114]

function toRgb([y, u, v]: [number, number, number], matrix: AVColorSpace, isFullRange: boolean) {
  const [kr, kb] = sharesOf(matrix)
  const luma = isFullRange ? y : ((y - 16) * 255) / 219
  const [pb, pr] = [u, v].map((x) => ((x - 128) * 255) / (isFullRange ? 255 : 224)) as [
    number,
    number,
  ]
  const red = luma + 2 * (1 - kr) * pr
  const blue = luma + 2 * (1 - kb) * pb
  const green = (luma - kr * red - kb * blue) / (1 - kr - kb)
  return [red, green, blue].map((x) => Math.round(Math.min(255, Math.max(0, x))))
}

/** Converts colors to YUV values of `bits` bits; the inverse of what a player does. */
export function yuvOf(
  [red, green, blue]: readonly [number, number, number],
  { matrix, isFullRange, bits = 8 }: { matrix: AVColorSpace; isFullRange: boolean; bits?: number },
): [number, number, number] {
  const [kr, kb] = sharesOf(matrix)
  const luma = kr * red + (1 - kr - kb) * green + kb * blue
  const [pb, pr] = [(blue - luma) / (2 * (1 - kb)), (red - luma) / (2 * (1 - kr))]
  const scale = isFullRange ? (2 ** bits - 1) / 255 : 2 ** (bits - 8)
  const middle = 2 ** (bits - 1)
  return [
    isFullRange ? luma * scale : (16 + (luma * 219) / 255) * scale,
    isFullRange ? middle + pb * scale : middle + ((pb * 224) / 255) * scale,
    isFullRange ? middle + pr * scale : middle + ((pr * 224) / 255) * scale,
  ].map(Math.round) as [number, number, number]
}
