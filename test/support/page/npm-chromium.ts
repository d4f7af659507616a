/** Installs a headless Chromium from the npm registry, for machines without one. */

import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import { promisify } from 'node:util'
import { fetchedOnce } from '../packages/fetched-once.ts'
import { npmPackages } from '../packages/npm-packages.ts'

const runFile = promisify(execFile)

/** A download of 70 MB, including the libraries and fonts that a bare machine lacks. */
const VERSION = '153.0.0'

/** Archives and the folders to unpack them into: libraries, a software renderer, fonts. */
const ARCHIVES = { al2023: '.', swiftshader: '.', fonts: 'fonts' }

/** Chromium exits if it finds no font. */
const FONTS_CONFIG = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir></fontconfig>
`

export interface Executable {
  executablePath: string
  /** Environment in which Chromium finds its libraries and fonts. */
  env: Record<string, string>
}

/** Returns the Chromium of the npm package, fetching it if necessary. */
export async function npmChromium(): Promise<Executable> {
  const modules = await npmPackages(`chromium-package-${VERSION}`, `@sparticuz/chromium@${VERSION}`)
  const packed = join(modules, '@sparticuz/chromium/bin')
  const folder = await fetchedOnce(`chromium-${VERSION}`, async (fresh) => {
    await decompress(join(packed, 'chromium.br'), join(fresh, 'chromium'))
    await chmod(join(fresh, 'chromium'), 0o755)
    for (const [name, place] of Object.entries(ARCHIVES)) {
      const archive = join(fresh, `${name}.tar`)
      await decompress(join(packed, `${name}.tar.br`), archive)
      await mkdir(join(fresh, place), { recursive: true })
      await runFile('tar', ['-xf', archive, '-C', join(fresh, place)])
    }
    await writeFile(join(fresh, 'fonts/fonts.conf'), FONTS_CONFIG)
  })
  return {
    executablePath: join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: join(folder, 'lib'), FONTCONFIG_PATH: join(folder, 'fonts') },
  }
}

const decompress = (from: string, to: string): Promise<void> =>
  pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to))
