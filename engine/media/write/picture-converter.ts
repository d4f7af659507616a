/** Converts pictures of any size, format and range to 8-bit 4:2:0, which every player can show. */

import {
  AV_FRAME_FLAG_INTERLACED,
  AV_FRAME_FLAG_TOP_FIELD_FIRST,
  AV_PIX_FMT_YUV420P,
  AVCOL_PRI_BT2020,
  AVCOL_RANGE_JPEG,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT2020_NCL,
  AVCOL_SPC_BT709,
  AVCOL_SPC_RGB,
  type AVChromaLocation,
  type AVColorPrimaries,
  type AVColorSpace,
  type AVColorTransferCharacteristic,
  type AVPixelFormat,
} from 'node-av/constants'
import { avGetPixFmtName, Frame, SoftwareScaleContext } from 'node-av/lib'
import { check } from '../ffmpeg.ts'

/** The form of all pictures in a video: 8-bit 4:2:0 in limited range. */
export interface PictureForm {
  width: number
  height: number
  /** YUV matrix of the source. RGB, which has none, gets one. */
  matrix: AVColorSpace
  primaries: AVColorPrimaries
  transfer: AVColorTransferCharacteristic
  chromaLocation: AVChromaLocation
  /** Whether each picture consists of two fields, one after the other in time. */
  isInterlaced: boolean
}

/** Returns the form for a video that starts with `first`. */
export function formOf(first: Frame): PictureForm {
  const isInterlaced = first.hasFlags(AV_FRAME_FLAG_INTERLACED)
  return {
    // H.264 in 4:2:0 needs even sides, also for each field.
    width: multipleOf(2, first.width),
    height: multipleOf(isInterlaced ? 4 : 2, first.height),
    matrix: matrixOf(first),
    primaries: first.colorPrimaries,
    transfer: first.colorTrc,
    chromaLocation: first.chromaLocation,
    isInterlaced,
  }
}

const multipleOf = (step: number, side: number): number => Math.max(step, side - (side % step))

function matrixOf({ colorSpace, colorPrimaries, format }: Frame): AVColorSpace {
  const isRgb = colorSpace === AVCOL_SPC_RGB || RGB.test(avGetPixFmtName(format as AVPixelFormat)!)
  if (!isRgb) return colorSpace
  return colorPrimaries === AVCOL_PRI_BT2020 ? AVCOL_SPC_BT2020_NCL : AVCOL_SPC_BT709
}

/** FFmpeg's names of pixel formats that are RGB, or indices into a table of RGB colours. */
const RGB = /rgb|bgr|gbr|pal8/

export class PictureConverter {
  readonly #form: PictureForm
  readonly #context = new SoftwareScaleContext()
  readonly #converted = new Frame()

  constructor(form: PictureForm) {
    this.#form = form
    this.#context.allocContext()
    this.#context.setOption('sws_flags', 'bicubic')
    this.#context.setOption('alphablend', 'uniform_color') // transparent areas become black
    this.#converted.alloc()
  }

  /** Returns the frame itself if it fits, otherwise one that is valid until the next call. */
  async convert(frame: Frame): Promise<Frame> {
    if (this.#fits(frame)) return frame
    const { width, height, matrix, primaries, transfer, chromaLocation } = this.#form
    const converted = this.#converted
    converted.unref() // the encoder may still hold the previous picture
    converted.format = AV_PIX_FMT_YUV420P
    converted.width = width
    converted.height = height
    converted.colorRange = AVCOL_RANGE_MPEG
    converted.colorSpace = matrix
    converted.colorPrimaries = primaries
    converted.colorTrc = transfer
    converted.chromaLocation = chromaLocation
    converted.flags = frame.flags & (AV_FRAME_FLAG_INTERLACED | AV_FRAME_FLAG_TOP_FIELD_FIRST)
    check(converted.getBuffer(), 'allocate a picture')
    check(await this.#context.scaleFrame(converted, frame), 'convert a picture')
    return converted
  }

  #fits({ width, height, format, colorRange, colorSpace }: Frame): boolean {
    const form = this.#form
    return (
      width === form.width &&
      height === form.height &&
      format === AV_PIX_FMT_YUV420P &&
      colorRange !== AVCOL_RANGE_JPEG &&
      colorSpace === form.matrix
    )
  }

  close(): void {
    this.#context.freeContext()
    this.#converted.free()
  }
}
