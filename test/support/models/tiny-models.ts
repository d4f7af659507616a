import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fixtureFolder } from './open-model.ts'

const demucs = join(fixtureFolder('htdemucs'), 'model')
const audioSep = join(fixtureFolder('audiosep'), 'model')
const scnet = join(fixtureFolder('scnet'), 'model')
const spleeter = join(fixtureFolder('spleeter'), 'model')
const roformer = join(fixtureFolder('roformer'), 'model-bs')

/** The text encoder of the tiny AudioSep has 4 heads, which its files do not state. */
function textConfig(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'tiny-text-')), 'config.json')
  writeFileSync(file, JSON.stringify({ num_attention_heads: 4 }))
  return file
}

/**
 * Arguments of `winnow model import` for each tiny model: files in the formats of the published
 * checkpoints, with random weights.
 */
export const TINY_MODELS: Readonly<Record<string, readonly string[]>> = {
  htdemucs: [join(demucs, '000003bb-feeb7c97.th'), '--name', 'htdemucs'],
  htdemucs_ft: [
    ...[join(demucs, '000003bb-feeb7c97.th'), join(demucs, '0000041f-c4a403b6.th')],
    ...['--name', 'htdemucs_ft', '--stems', 'drums,vocals'],
  ],
  audiosep: [
    ...['audiosep_tiny.ckpt', 'config.yaml', 'tokenizer.json', 'tokenizer_config.json'].map(
      (file) => join(audioSep, file),
    ),
    ...[textConfig(), '--name', 'audiosep'],
  ],
  roformer: [
    ...['bs_tiny.ckpt', 'bs_tiny.yaml'].map((file) => join(roformer, file)),
    ...['--name', 'roformer'],
  ],
  scnet: [
    ...['scnet_tiny.ckpt', 'scnet_tiny.yaml'].map((file) => join(scnet, file)),
    ...['--name', 'scnet'],
  ],
  spleeter: [
    ...['tiny.index', 'tiny.data-00000-of-00001', 'tiny.json'].map((file) => join(spleeter, file)),
    ...['--name', 'spleeter'],
  ],
}
