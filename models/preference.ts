/**
 * Decides which of several suitable models answers a prompt: the first installed one in this order,
 * which follows their figures for songs. A new model goes where its own figures put it.
 */
import type { ModelRecord } from './installed/record.ts'

interface Preference {
  name: string
  /** As stated in its record. */
  kind: ModelRecord['kind']
  /** SDR in dB, or why the model is at this position. */
  figure: string
  source: string
}

const MULTISONG = 'ZFTurbo, MVSEP Multisong'
const SCNET = 'paper of SCNet, MUSDB18-HQ'

/** Best first. The built-in mini, which answers any prompt, comes last of all. */
export const PREFERENCES: readonly Preference[] = [
  {
    name: 'melband-roformer-kim',
    kind: 'roformer',
    figure: 'vocals 11.0; gives nothing else',
    source: MULTISONG,
  },
  { name: 'scnet-large', kind: 'scnet', figure: 'mean 9.7', source: SCNET },
  {
    name: 'htdemucs_ft',
    kind: 'htdemucs',
    figure: 'mean 9.0; vocals 8.4 on Multisong',
    source: `README of Demucs, MUSDB HQ; ${MULTISONG}`,
  },
  {
    name: 'scnet',
    kind: 'scnet',
    figure: 'mean 9.0, trained on 800 songs fewer than htdemucs',
    source: SCNET,
  },
  { name: 'htdemucs', kind: 'htdemucs', figure: 'vocals 8.2', source: MULTISONG },
  {
    name: 'htdemucs_6s',
    kind: 'htdemucs',
    figure: 'none published; for guitar and piano, which no other has',
    source: 'README of Demucs',
  },
  {
    name: 'spleeter',
    kind: 'spleeter',
    figure: 'vocals 6.6 by the network for four stems',
    source: 'JOSS 10.21105/joss.02154, MUSDB18',
  },
  {
    name: 'audiosep-hive',
    kind: 'audiosep',
    figure: 'any sound; trained on more and cleaner sounds than audiosep',
    source: 'arXiv 2601.22599',
  },
  { name: 'audiosep', kind: 'audiosep', figure: 'any sound; vocals 0.3', source: MULTISONG },
]

/**
 * Position of a model in the order, lowest first. An unknown model comes right after the known ones
 * of its kind.
 */
export function preferenceOf(name: string, kind: ModelRecord['kind']): number {
  const known = PREFERENCES.findIndex((preference) => preference.name === name)
  if (known >= 0) return known
  return PREFERENCES.findLastIndex((preference) => preference.kind === kind) + 0.5
}
