/** The quality figures in the documents are those measured in models/training/EXPERIMENTS.md. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const EXPERIMENTS = read('models/training/EXPERIMENTS.md')

const sectionOf = (heading: string): string =>
  EXPERIMENTS.split(/^##+ /m).find((section) => section.startsWith(`${heading}\n`)) ?? ''

/** Reads a row: mean and median SI-SDRi in dB, and the percentage that got worse. */
function row(heading: string, name: string) {
  const line = sectionOf(heading)
    .split('\n')
    .find((each) => each.startsWith(`| ${name} |`))
  const pattern = /\| (-?[\d.]+) ± [\d.]+ \((-?[\d.]+), [^|]*\| [\d.]+ \| (\d+) %/
  const [, mean = '', median = '', improved] = pattern.exec(line ?? '') ?? []
  assert.ok(mean, `${heading}: ${name}`)
  return { mean, median, worse: String(100 - Number(improved)) }
}
const real = (name: string) => row('Real recordings', name)
const own = (name: string) => row("Material of training's own kind", name).mean

/** Returns the range of the means of these classes in whole dB, such as `12 to 15`. */
function classes(...names: string[]): string {
  const means = names.map((name) => {
    const [, mean] =
      new RegExp(`\\| ${name} \\(\\d+\\): (-?[\\d.]+) `).exec(sectionOf('By class')) ?? []
    assert.ok(mean, name)
    return Math.round(Number(mean))
  })
  return [...new Set([Math.min(...means), Math.max(...means)])].join(' to ')
}

const [, quality = ''] = /`quality` gained ([\d.]+) ±/.exec(EXPERIMENTS) ?? []
const pitched = real('pitched x pitched instrument')
const [woman, man] = [real('woman x man').mean, real('man x woman').mean]
const speech = real('speech in everyday sounds').mean
const drums = real('drums from an instrument').mean

/** Parts of documents that contain figures. */
const PIECES: Readonly<Record<string, readonly string[]>> = {
  'README.md': [
    `| ${speech} · ${real('everyday sounds in speech').mean} |`,
    `| ${real('speech in an instrument').mean} · ${real('an instrument in speech').mean} |`,
    `| drums from an instrument | ${drums} |`,
    `(ESC-10) | ${own('real x real')} |`,
    `| a woman's voice from a man's · a man's from a woman's | ${woman} · ${man} |`,
    `| one pitched instrument from another | ${pitched.mean} (`,
  ],
  'docs/explain/quality.md': [
    `| speech in music · music in speech (sound fonts) | ${own('speech in music')} · ${own('music in speech')} |`,
    `| a woman's voice from a man's (synthetic voices) | ${own('woman x man')} |`,
    `| singers over a band | ${own('singing in music')} |`,
  ],
  'docs/how-to/podcast.md': [
    `gains ${quality} dB (`,
    `improves by ${speech} dB of SI-SDR in the mean, in music by ${own('speech in music')}, at 0 dB`,
    `a woman's voice from a man's by ${woman} dB; a man's from a woman's by ${man}.`,
  ],
  'docs/how-to/video.md': [
    `improves by ${own('speech in music')} dB of SI-SDR in the mean, speech in real everyday sounds by ${speech} (`,
  ],
  'docs/how-to/songs.md': [
    `| ${classes('kit', 'hihat', 'kick', 'bass')} dB, on few cases`,
    `| drums from a **real** instrument | ${drums} dB |`,
    `| singers over a band | ${own('singing in music')} dB`,
    `| ${pitched.mean} dB (median ${pitched.median}); worse in ${pitched.worse} % of the cases |`,
  ],
  'docs/how-to/games.md': [
    `| ${classes('alarm', 'crickets', 'dialtone')} dB |`,
    `| ${classes('whistle', 'glass', 'tambourine')} dB |`,
    `| ${classes('thunder', 'knock', 'drip', 'heartbeat')} dB |`,
    `| ${classes('dog', 'bird', 'gunshot', 'siren', 'clock')} dB |`,
    `| ${classes('footsteps', 'fire', 'trainhorn')} dB |`,
    `| ${classes('drill', 'toms')} dB: listen`,
  ],
}

for (const [page, pieces] of Object.entries(PIECES)) {
  test(`the figures in ${page} are those that were measured`, () => {
    let rest = read(page)
    for (const piece of pieces) {
      assert.ok(rest.includes(piece), `${page} should have: ${piece}`)
      rest = rest.replace(piece, '')
    }
    if (page.includes('how-to')) {
      assert.doesNotMatch(rest, /\d dB/, 'a figure that is compared with nothing')
    }
  })
}
