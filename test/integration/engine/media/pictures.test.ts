/**
 * A video shows what its source shows: the same colors, shape and fields, however either is coded.
 */

import assert from 'node:assert/strict'
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
import { firstPicture, yuvOf } from '../../../support/media/first-picture.ts'
import type { VideoTrack } from '../../../support/media/make-media.ts'
import { noise } from '../../../support/media/signals.ts'
import { assertBetween, assertNear, makeOutputVideo, mediaFolder } from './read-sound.ts'

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
  const { video: prepared, path: to } = await makeOutputVideo(path, [noise(0.5, 48_000)])
  return { prepared, picture: await firstPicture(to) }
}

const RED = [200, 40, 40] as const

function fillBytes(bytes: Buffer, value: number, bits: number): void {
  if (bits === 8) bytes.fill(value)
  else for (let i = 0; i + 1 < bytes.length; i += 2) bytes.writeUInt16LE(value, i)
}

/** Fills the YUV planes of a frame with values of `bits` bits. */
const fill = (frame: Frame, values: readonly number[], bits = 8): void =>
  frame.data!.forEach((plane, p) => fillBytes(plane, values[p]!, bits))

/** Repeats the bytes of one pixel. */
const fillPacked = (pixel: readonly number[]) => (frame: Frame) => {
  const [plane] = frame.data!
  for (let i = 0; i < plane!.length; i++) plane![i] = pixel[i % pixel.length]!
}

interface Yuv {
  isFullRange: boolean
  bits?: number
  /** Whether the stream states the range; the format alone may imply it. */
  isTagged?: boolean
}

const FFV1 = { container: 'matroska', encoder: 'ffv1' }

/** Lossless video of one color. */
function yuv(
  format: AVPixelFormat,
  matrix: AVColorSpace,
  { isFullRange, bits = 8, isTagged = true }: Yuv,
): Source {
  const values = yuvOf(RED, { matrix, isFullRange, bits })
  return {
    ...FFV1,
    format,
    paint: (frame) => fill(frame, values, bits),
    set: (codec) => {
      codec.colorSpace = matrix
      if (isTagged) codec.colorRange = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    },
  }
}

/** Video of one color whose pixels are all `pixel`. */
const packed = (
  container: string,
  encoder: string,
  format: AVPixelFormat,
  pixel: readonly number[],
): Source => ({ container, encoder, format, paint: fillPacked(pixel) })

describe('colours', () => {
  const [FULL, LIMITED] = [{ isFullRange: true }, { isFullRange: false }]
  const [BT601, BT709] = [AVCOL_SPC_SMPTE170M, AVCOL_SPC_BT709]
  const [red, green, blue] = RED
  const tenBits = [green, blue, red].map((x) => 4 * x)
  const sources: Record<string, Source> = {
    'full range, 4:2:0': yuv(AV_PIX_FMT_YUV420P, BT709, FULL),
    'full range of SD video': yuv(AV_PIX_FMT_YUV420P, BT601, FULL),
    'full range, 4:4:4': yuv(AV_PIX_FMT_YUV444P, BT601, FULL),
    'full range, 12 bits in 4:4:4': yuv(AV_PIX_FMT_YUV444P12LE, BT709, { ...FULL, bits: 12 }),
    'limited range, 10 bits in 4:2:2': yuv(AV_PIX_FMT_YUV422P10LE, BT709, { ...LIMITED, bits: 10 }),
    'limited range, 4:4:4 with odd sides': {
      ...yuv(AV_PIX_FMT_YUV444P, BT709, LIMITED),
      width: 65,
      height: 49,
    },
    'YUV without a matrix': yuv(AV_PIX_FMT_YUV422P, AVCOL_SPC_UNSPECIFIED, {
      ...LIMITED,
      isTagged: false,
    }),
    'RGB in PNG': packed('mov', 'png', AV_PIX_FMT_RGB24, RED),
    'RGBA in PNG': packed('mov', 'png', AV_PIX_FMT_RGBA, [...RED, 255]),
    'ARGB in QuickTime Animation': packed('mov', 'qtrle', AV_PIX_FMT_ARGB, [255, ...RED]),
    'BGR without coding': packed('avi', 'rawvideo', AV_PIX_FMT_BGR24, [blue, green, red]),
    'RGB in FFV1': packed('matroska', 'ffv1', AV_PIX_FMT_BGR0, [blue, green, red, 0]),
    'RGB of 10 bits': {
      ...FFV1,
      format: AV_PIX_FMT_GBRP10LE,
      paint: (frame) => fill(frame, tenBits, 10),
    },
    'RGB in planes': {
      container: 'avi',
      encoder: 'utvideo',
      format: AV_PIX_FMT_GBRP,
      paint: (frame) => fill(frame, [green, blue, red]),
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
    const { picture } = await madeOf(packed('mov', 'png', AV_PIX_FMT_RGBA, [...RED, 0]))
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
      const hdr = yuv(AV_PIX_FMT_YUV420P10LE, AVCOL_SPC_BT2020_NCL, { ...LIMITED, bits: 10 })
      const { picture } = await madeOf({
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
  const copied: Source[] = [
    { container: 'mp4', encoder: 'libx264', set: square },
    { container: 'mov', encoder: 'libx264', set: square },
    { container: 'matroska', encoder: 'libx264', set: square },
    { container: 'mp4', encoder: 'libx265', set: square },
    { container: 'matroska', encoder: 'mpeg4', set: wide },
    { container: 'webm', encoder: 'libvpx-vp9', sound: 'libopus' },
  ]
  const recoded: Source[] = [
    { container: 'asf', encoder: 'wmv2', sound: 'wmav2' },
    { container: 'webm', encoder: 'libvpx', sound: 'libopus' },
    { container: 'avi', encoder: 'ffv1' },
    FFV1,
    { container: 'mov', encoder: 'h263', width: 128, height: 96, set: square },
  ]
  for (const source of [...copied, ...recoded]) {
    test(`${source.encoder} in ${source.container}: as the container states it`, async () => {
      const { prepared, picture } = await madeOf({ ...source, pixelAspect: WIDE })
      const isCopied = copied.includes(source)
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
  const paint =
    (flags: number, bits = 8) =>
    (frame: Frame) => {
      frame.flags = flags
      for (const [p, plane] of frame.data!.entries()) {
        const stride = frame.linesize[p]!
        for (let at = 0; at < plane.length; at += stride) {
          const level = (at / stride) % 2 === 0 ? 80 : 160
          fillBytes(plane.subarray(at, at + stride), level * 2 ** (bits - 8), bits)
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
      const flags = field === 'top' ? TOP : AV_FRAME_FLAG_INTERLACED
      const { prepared, picture } = await madeOf({
        ...FFV1,
        format,
        height,
        set: interlaced(field === 'top' ? 'tt' : 'bb'),
        paint: paint(flags, format === AV_PIX_FMT_YUV422P10LE ? 10 : 8),
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
