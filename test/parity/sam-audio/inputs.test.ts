/** Inputs stated in MANIFEST.json replace the constants of the first reference run. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parity } from '../../support/parity/command.ts'
import { runCommand } from '../../support/processes/run-command.ts'
import { FIXTURES } from '../../support/models/tiny-sam-audio.ts'

const root = mkdtempSync(join(tmpdir(), 'parity-inputs-'))
after(() => rmSync(root, { recursive: true }))
cpSync(FIXTURES, root, { recursive: true })
const file = join(root, 'golden/MANIFEST.json')
const manifest = JSON.parse(readFileSync(file, 'utf8'))

const [man, dog] = ['man speaking', 'a dog barking loudly in the distance']

const T5_TEXTS = [
  man,
  `${dog}, then a car horn honking and children playing; isolate it!`,
  '',
  'female vocals with reverb',
]

/** The inputs of the first run, as a manifest would state them. */
const STATED = {
  sample_rate: 2400,
  hop: 96,
  separate: {
    texts: [man, dog],
    lengths: [2311, 1500],
    steps: [8, 32, 64],
    stereo_text: 'a dog barking',
    anchors: [
      [
        ['+', 0.2, 0.5],
        ['-', 0.6, 0.72],
      ],
      [['+', 0.1, 0.3]],
    ],
  },
  span_predictor: { texts: [dog, man], unmasked_frames: 16 },
  judge: { texts: [dog, man], lengths: [2311, 1500] },
  t5: { texts: T5_TEXTS },
}

/** Runs the stages with these inputs in the manifest. */
function parityOf(inputs: unknown, ...stages: string[]) {
  writeFileSync(file, JSON.stringify({ ...manifest, inputs }))
  return runCommand(parity, [root, ...stages])
}

test('stated inputs that equal those of the first run agree, including their texts', async () => {
  const { code, text, errors } = await parityOf(
    STATED,
    't5',
    'spans',
    'separate',
    'predict',
    'judge',
  )
  assert.equal(code, 0, text + errors)
  for (const stage of ['t5', 'spans', 'judge']) {
    assert.match(
      text,
      new RegExp(`^ok .* ${stage} +input_ids {2}\\(tokens of the manifest's texts\\)$`, 'm'),
    )
  }
})

test('the stated texts are the ones separated and compared', async () => {
  const swapped = { ...STATED.separate, texts: [dog, man], stereo_text: 'man speaking' }
  const { code, text } = await parityOf({ ...STATED, separate: swapped }, 'separate', 'predict')
  assert.equal(code, 1)
  assert.match(text, /^WRONG .* separate plain\.s32\.target\.0/m)
  assert.match(text, /^WRONG .* separate stereo\.target\.0/m)
  assert.match(text, /^WRONG .* predict +predicted_anchors_in_separate/m)
  const others = { ...STATED, span_predictor: { ...STATED.span_predictor, texts: [man, dog] } }
  assert.match((await parityOf(others, 'spans')).text, /^WRONG .* spans +input_ids/m)
})

test('inputs that the stored outputs were not made with are refused by name', async () => {
  const { separate, span_predictor: spans, judge } = STATED
  const wrong: [stage: string, inputs: object, expected: RegExp][] = [
    [
      'separate',
      { separate: { ...separate, lengths: [2311, 1501] } },
      /audio\.1 has 1500 samples, not the 1501/,
    ],
    [
      'predict',
      { separate: { ...separate, lengths: [2310, 1500] } },
      /audio\.0 has 2311 samples, not the 2310/,
    ],
    [
      'separate',
      { separate: { ...separate, steps: [8, 12] } },
      /cases of 8,32,64 evaluations, .*steps are 8,12/,
    ],
    [
      'separate',
      { hop: 100 },
      /2400 samples in a second and 96 in a frame, the manifest's inputs 2400 and 100/,
    ],
    ['separate', { separate: { ...separate, anchors: [[], []] } }, /row 0 of the anchors is not/],
    [
      'spans',
      { span_predictor: { ...spans, unmasked_frames: 15 } },
      /nomask\.audio_embeds has 16 frames; .* be 15/,
    ],
    [
      'judge',
      { judge: { ...judge, lengths: [2311, 1499] } },
      /input_audio\.1 has 1500 samples, not the 1499/,
    ],
  ]
  for (const [stage, inputs, expected] of wrong) {
    const { code, errors } = await parityOf({ ...STATED, ...inputs }, stage)
    assert.equal(code, 1)
    assert.match(errors, expected)
  }
})

test('every incomplete or wrong input is reported, all at once', async () => {
  const { code, errors } = await parityOf({
    ...STATED,
    hop: 0,
    judge: undefined,
    separate: { ...STATED.separate, anchors: [[['?', 0, 1]]] },
  })
  assert.equal(code, 1)
  assert.match(errors, /MANIFEST\.json: inputs\.hop is not as it must be: 0/)
  assert.match(errors, /MANIFEST\.json: inputs\.judge must be an object with texts, lengths/)
  assert.match(errors, /inputs\.separate\.anchors is not as it must be: \[\[\["\?",0,1\]\]\]/)
  const shorter = { ...STATED.separate, lengths: [2311] }
  assert.match(
    (await parityOf({ ...STATED, separate: shorter })).errors,
    /inputs\.separate\.lengths has 1 entries for 2 texts/,
  )
})
