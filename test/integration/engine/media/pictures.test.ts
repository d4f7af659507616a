/**
 * A video shows what its source shows: the same colors, shape and fields, however either is coded.
 */

import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import {
  AV_FRAME_FLAG_INTERLACED,
  AV_FRAME_FLAG_TOP_FIELD_FIRST,
  AV_CODEC_FLAG_INTERLACED_DCT,
  AV_PIX_FMT_ARGB,
  AV_PIX_FMT_BGR0,
  AV_PIX_FMT_BGR24,
  AV_PIX_FMT_GBRP,
  AV_PIX_FMT_GBRP10LE,
  AV_PIX_FMT_RGB24,
  AV_PIX_FMT_RGBA,
  AV_PIX_FMT_YUVA420P,
  AV_PIX_FMT_YUV420P,
  AV_PIX_FMT_YUV420P10LE,
  AV_PIX_FMT_YUV422P,
  AV_PIX_FMT_YUV422P10LE,
  AV_PIX_FMT_YUV444P,
  AV_PIX_FMT_YUV444P12LE,
  AVCOL_PRI_BT2020,
  AVCOL_RANGE_JPEG,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT2020_NCL,
  AVCOL_SPC_BT709,
  AVCOL_SPC_RGB,
  AVCOL_SPC_SMPTE170M,
  AVCOL_SPC_UNSPECIFIED,
  AVCOL_TRC_ARIB_STD_B67,
  AVCOL_TRC_SMPTE2084,
  type AVPixelFormat,
  type AVColorSpace,
} from 'node-av/constants'
import { type CodecContext, type Frame, Rational } from 'node-av/lib'
import { createEncoder } from '../../../../engine/media/write/encode.ts'
import { muxVideo } from '../../../../engine/media/write/mux-video.ts'
import { prepareVideo } from '../../../../engine/media/write/prepare-video.ts'
import { firstPicture, yuvOf } from '../../../support/media/first-picture.ts'
import type { VideoTrack } from '../../../support/media/make-media.ts'
import { noise } from '../../../support/media/signals.ts'
import { assertBetween, assertNear, mediaFolder } from './read-sound.ts'

const { make } = mediaFolder()

interface Source extends Partial<VideoTrack> {
  container: string
  encoder: string
  sound?: string
  channels?: number
}

/** Makes a source and the video from it, and reads the first picture of the video. */
async function madeOf({ container, sound = 'aac', channels = 1, ...video }: Source) {
  const planes = Array.from({ length: channels }, () => noise(0.5, 48_000))
  const path = await make(`source-${video.encoder}`, container, {
    audio: { planes, sampleRate: 48_000, encoder: sound },
    video: { seconds: 0.5, ...video },
  })
  const folder = dirname(path)
  const prepared = await prepareVideo({ path, folder })
  const audioPath = `${path}.m4a`
  const encoder = await createEncoder(audioPath, { format: 'aac', sampleRate: 48_000, channels: 1 })
  await encoder.write([noise(0.5, 48_000)])
  await encoder.finish()
  await muxVideo({ video: prepared, audioPath, path: `${path}.mp4` })
  return { prepared, picture: await firstPicture(`${path}.mp4`) }
}

const RED = [200, 40, 40] as const

/** Fills the YUV planes of a frame with values of `bits` bits. */
function fill(frame: Frame, values: readonly number[], bits = 8): void {
  for (const [p, plane] of frame.data!.entries()) {
    if (bits === 8) plane.fill(values[p]!)
    else for (let i = 0; i + 1 < plane.length; i += 2) plane.writeUInt16LE(values[p]!, i)
  }
}

/** Repeats the bytes of one pixel. */
const fillPacked = (pixel: readonly number[]) => (frame: Frame) => {
  const [plane] = frame.data!
  for (let i = 0; i < plane!.length; i++) plane![i] = pixel[i % pixel.length]!
}

interface Yuv {
  format: AVPixelFormat
  matrix: AVColorSpace
  isFullRange: boolean
  bits?: number
  /** Whether the stream states the range; the format alone may imply it. */
  isTagged?: boolean
}

function yuv({ format, isTagged = true, ...coding }: Yuv): Partial<VideoTrack> {
  const values = yuvOf(RED, coding)
  return {
    format,
    paint: (frame) => fill(frame, values, coding.bits),
    set: (codec) => {
      codec.colorSpace = coding.matrix
      if (isTagged) codec.colorRange = coding.isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    },
  }
}

const FFV1 = { container: 'matroska', encoder: 'ffv1' }
const BT709 = { matrix: AVCOL_SPC_BT709 }
const BT601 = { matrix: AVCOL_SPC_SMPTE170M }

describe('colours', () => {
  const sources: Record<string, Source> = {
    'full range, 4:2:0': {
      ...FFV1,
      ...yuv({ format: AV_PIX_FMT_YUV420P, ...BT709, isFullRange: true }),
    },
    'full range of SD video': {
      ...FFV1,
      ...yuv({ format: AV_PIX_FMT_YUV420P, ...BT601, isFullRange: true }),
    },
    'full range, 4:4:4': {
      ...FFV1,
      ...yuv({ format: AV_PIX_FMT_YUV444P, ...BT601, isFullRange: true }),
    },
    'full range, 12 bits in 4:4:4': {
      ...FFV1,
      ...yuv({ format: AV_PIX_FMT_YUV444P12LE, ...BT709, isFullRange: true, bits: 12 }),
    },
    'limited range, 10 bits in 4:2:2': {
      ...FFV1,
      ...yuv({ format: AV_PIX_FMT_YUV422P10LE, ...BT709, isFullRange: false, bits: 10 }),
    },
    'limited range, 4:4:4 with odd sides': {
      ...FFV1,
      ...yuv({ format: AV_PIX_FMT_YUV444P, ...BT709, isFullRange: false }),
      width: 65,
      height: 49,
    },
    'YUV without a matrix': {
      ...FFV1,
      ...yuv({
        format: AV_PIX_FMT_YUV422P,
        matrix: AVCOL_SPC_UNSPECIFIED,
        isFullRange: false,
        isTagged: false,
      }),
    },
    'RGB in PNG': {
      container: 'mov',
      encoder: 'png',
      format: AV_PIX_FMT_RGB24,
      paint: fillPacked(RED),
    },
    'RGBA in PNG': {
      container: 'mov',
      encoder: 'png',
      format: AV_PIX_FMT_RGBA,
      paint: fillPacked([...RED, 255]),
    },
    'ARGB in QuickTime Animation': {
      container: 'mov',
      encoder: 'qtrle',
      format: AV_PIX_FMT_ARGB,
      paint: fillPacked([255, ...RED]),
    },
    'BGR without coding': {
      container: 'avi',
      encoder: 'rawvideo',
      format: AV_PIX_FMT_BGR24,
      paint: fillPacked([...RED].reverse()),
    },
    'RGB in FFV1': {
      ...FFV1,
      format: AV_PIX_FMT_BGR0,
      paint: fillPacked([...[...RED].reverse(), 0]),
    },
    'RGB of 10 bits': {
      ...FFV1,
      format: AV_PIX_FMT_GBRP10LE,
      paint: (frame) =>
        fill(
          frame,
          [RED[1], RED[2], RED[0]].map((x) => 4 * x),
          10,
        ),
    },
    'RGB in planes': {
      container: 'avi',
      encoder: 'utvideo',
      format: AV_PIX_FMT_GBRP,
      paint: (frame) => fill(frame, [RED[1], RED[2], RED[0]]),
    },
  }
  for (const [name, source] of Object.entries(sources)) {
    test(name, async () => {
      const { prepared, picture } = await madeOf(source)
      assert.match(prepared.recodedBecause!, /can't hold/)
      for (const [x, y] of [
        [2, 2],
        [picture.width - 3, picture.height - 3],
      ] as const) {
        // One 8-bit step in chroma is up to 2 in RGB, and coding loses a little.
        picture.rgbAt(x, y).forEach((value, i) => assertNear(value, RED[i]!, 4))
      }
      assert.equal(picture.isFullRange, false)
      assert.notEqual(picture.matrix, AVCOL_SPC_RGB)
    })
  }

  test('transparent pixels are shown as black, not in their hidden color', async () => {
    const paint = fillPacked([...RED, 0])
    const { picture } = await madeOf({
      container: 'mov',
      encoder: 'png',
      format: AV_PIX_FMT_RGBA,
      paint,
    })
    picture.rgbAt(9, 9).forEach((value) => assertNear(value, 0, 3))
  })

  for (const encoder of ['libvpx', 'libvpx-vp9']) {
    test(`transparent pixels are shown as black: ${encoder} with transparency`, async () => {
      const values = [180, 90, 200, 0]
      const { prepared, picture } = await madeOf({
        container: 'webm',
        encoder,
        sound: 'libopus',
        format: AV_PIX_FMT_YUVA420P,
        set: (codec) => void codec.setOption('auto-alt-ref', '0'), // required by libvpx
        paint: (frame) => frame.data!.forEach((plane, p) => plane.fill(values[p]!)),
      })
      assert.match(prepared.recodedBecause ?? '', /^MP4 can't hold the transparency of vp[89]$/)
      picture.rgbAt(9, 9).forEach((value) => assertNear(value, 0, 3))
    })
  }

  for (const [name, transfer] of [
    ['PQ', AVCOL_TRC_SMPTE2084],
    ['HLG', AVCOL_TRC_ARIB_STD_B67],
  ] as const) {
    test(`HDR stays HDR: BT.2020 and ${name}`, async () => {
      const coding = { matrix: AVCOL_SPC_BT2020_NCL, isFullRange: false, bits: 10 }
      const hdr = yuv({ format: AV_PIX_FMT_YUV420P10LE, ...coding })
      const { picture } = await madeOf({
        ...FFV1,
        ...hdr,
        set: (codec) => {
          hdr.set!(codec)
          codec.colorPrimaries = AVCOL_PRI_BT2020
          codec.colorTrc = transfer
        },
      })
      assert.deepEqual(
        [picture.matrix, picture.primaries, picture.transfer],
        [AVCOL_SPC_BT2020_NCL, AVCOL_PRI_BT2020, transfer],
      )
      picture.rgbAt(9, 9).forEach((value, i) => assertNear(value, RED[i]!, 4))
    })
  }
})

describe('the aspect ratio of pixels', () => {
  const WIDE = new Rational(64, 45)
  const square = (codec: CodecContext) => (codec.sampleAspectRatio = new Rational(1, 1))
  const wide = (codec: CodecContext) => (codec.sampleAspectRatio = WIDE)
  const sources: Record<string, Source & { isCopied: boolean }> = {
    'h264 in MP4': { container: 'mp4', encoder: 'libx264', set: square, isCopied: true },
    'h264 in MOV': { container: 'mov', encoder: 'libx264', set: square, isCopied: true },
    'h264 in Matroska': { container: 'matroska', encoder: 'libx264', set: square, isCopied: true },
    'hevc in MP4': { container: 'mp4', encoder: 'libx265', set: square, isCopied: true },
    'mpeg4 in Matroska': { container: 'matroska', encoder: 'mpeg4', set: wide, isCopied: true },
    'vp9 in WebM': { container: 'webm', encoder: 'libvpx-vp9', sound: 'libopus', isCopied: true },
    'wmv2 in WMV': { container: 'asf', encoder: 'wmv2', sound: 'wmav2', isCopied: false },
    'vp8 in WebM': { container: 'webm', encoder: 'libvpx', sound: 'libopus', isCopied: false },
    'ffv1 in AVI': { container: 'avi', encoder: 'ffv1', isCopied: false },
    'ffv1 in Matroska': { ...FFV1, isCopied: false },
    'h263 in MOV': {
      container: 'mov',
      encoder: 'h263',
      width: 128,
      height: 96,
      set: square,
      isCopied: false,
    },
  }
  for (const [name, { isCopied, ...source }] of Object.entries(sources)) {
    test(`${name}: as the container states it`, async () => {
      const { prepared, picture } = await madeOf({ ...source, pixelAspect: WIDE })
      assert.equal(prepared.recodedBecause === null, isCopied)
      // WebM states the ratio by a width in whole pixels.
      const { container, coding } = picture.pixelAspect
      assertNear(container, WIDE.toDouble(), 0.5 / 64)
      if (!isCopied) assert.equal(coding, container)
    })
  }

  test('mpeg2 in a transport stream: as the coded stream states it', async () => {
    const { picture } = await madeOf({
      container: 'mpegts',
      encoder: 'mpeg2video',
      sound: 'mp2',
      set: wide,
      pixelAspect: WIDE,
      width: 180,
      height: 144,
    })
    assert.equal(picture.pixelAspect.container, WIDE.toDouble())
  })
})

describe('fields', () => {
  /** Paints two fields of different brightness and color. */
  const paint = (flags: number) => (frame: Frame) => {
    frame.flags = flags
    for (const [p, plane] of frame.data!.entries()) {
      const stride = frame.linesize[p]!
      for (let at = 0; at < plane.length; at++) {
        plane[at] = Math.floor(at / stride) % 2 === 0 ? 80 : 160
      }
    }
  }
  const interlaced = (order: string) => (codec: CodecContext) => {
    codec.setFlags(AV_CODEC_FLAG_INTERLACED_DCT)
    codec.setOption('field_order', order)
  }
  const TOP = AV_FRAME_FLAG_INTERLACED | AV_FRAME_FLAG_TOP_FIELD_FIRST
  const cases = [
    { field: 'top', format: AV_PIX_FMT_YUV420P, height: 48, name: '4:2:0' },
    { field: 'bottom', format: AV_PIX_FMT_YUV420P, height: 48, name: '4:2:0' },
    { field: 'top', format: AV_PIX_FMT_YUV422P, height: 48, name: '4:2:2' },
    { field: 'bottom', format: AV_PIX_FMT_YUV422P10LE, height: 48, name: '4:2:2 of 10 bits' },
    { field: 'top', format: AV_PIX_FMT_YUV422P, height: 50, name: '4:2:2, 50 lines' },
  ] as const
  for (const { field, format, height, name } of cases) {
    test(`${name}, ${field} field first: both stay as they are`, async () => {
      const wide = format === AV_PIX_FMT_YUV422P10LE
      const flags = field === 'top' ? TOP : AV_FRAME_FLAG_INTERLACED
      const { prepared, picture } = await madeOf({
        ...FFV1,
        format,
        height,
        set: interlaced(field === 'top' ? 'tt' : 'bb'),
        paint: (frame) => {
          paint(flags)(frame)
          if (!wide) return
          for (const [p, plane] of frame.data!.entries()) {
            for (let at = 0; at + 1 < plane.length; at += 2) {
              const isEven = Math.floor(at / frame.linesize[p]!) % 2 === 0
              plane.writeUInt16LE(isEven ? 320 : 640, at)
            }
          }
        },
      })
      assert.equal(prepared.isInterlaced, true)
      assert.equal(picture.firstField, field)
      assert.equal(picture.height, 48)
      for (const plane of picture.planes) {
        for (const [row, values] of plane.entries()) {
          assertNear(values[8]!, row % 2 === 0 ? 80 : 160, 6)
        }
      }
    })
  }

  const PAL = { width: 720, height: 576, framesPerSecond: 25, pixelAspect: new Rational(64, 45) }
  const studio = { ...PAL, sound: 'pcm_s16le', channels: 2 }
  const broadcast: Record<string, Source & { field: 'top' | 'bottom' }> = {
    'MPEG-2 in MXF': {
      ...studio,
      container: 'mxf',
      encoder: 'mpeg2video',
      field: 'top',
      paint: paint(TOP),
      set: (codec) => {
        codec.setFlags(AV_CODEC_FLAG_INTERLACED_DCT)
        codec.sampleAspectRatio = PAL.pixelAspect
      },
    },
    'a DV tape': { ...studio, container: 'dv', encoder: 'dvvideo', field: 'bottom' },
    'DV in AVI': { ...studio, container: 'avi', encoder: 'dvvideo', field: 'bottom' },
  }
  for (const [name, { field, ...source }] of Object.entries(broadcast)) {
    test(`${name}: fields and shape stay as they are`, async () => {
      const { picture } = await madeOf({
        paint: paint(AV_FRAME_FLAG_INTERLACED),
        set: (codec) => (codec.sampleAspectRatio = PAL.pixelAspect),
        ...source,
      })
      assert.equal(picture.firstField, field)
      assert.equal(picture.pixelAspect.container, PAL.pixelAspect.toDouble())
      for (const [row, values] of picture.planes[0]!.entries()) {
        assertNear(values[8]!, row % 2 === 0 ? 80 : 160, 12)
      }
    })
  }

  test('whole pictures stay whole', async () => {
    const { prepared, picture } = await madeOf({ ...FFV1, paint: paint(0) })
    assert.equal(prepared.isInterlaced, false)
    assert.equal(picture.firstField, null)
    assertBetween(picture.planes[0]![1]![8]!, 150, 170)
  })
})
