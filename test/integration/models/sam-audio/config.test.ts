import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../../../models/sam-audio/config.ts'
import { readJudgeConfig } from '../../../../models/sam-audio/judge/judge.ts'
import { readSpanPredictorConfig } from '../../../../models/sam-audio/spans/span-predictor.ts'
import { readT5Config } from '../../../../models/sam-audio/text/t5-config.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'

const folder = temporaryFolder({ after })
const file = join(folder, 'config.json')

const fixture = (name: string) =>
  JSON.parse(
    readFileSync(
      fileURLToPath(new URL(`../../../fixtures/sam-audio/${name}/config.json`, import.meta.url)),
      'utf8',
    ),
  )

/** Reads a changed configuration. */
function readChanged(read: (file: string) => Promise<unknown>, config: object) {
  writeFileSync(file, JSON.stringify(config))
  return read(file)
}

test('a network of another kind is refused, naming the setting', async () => {
  const t5 = fixture('t5-tiny')
  await assert.rejects(
    readChanged(readT5Config, { ...t5, feed_forward_proj: 'gated-gelu' }),
    /config\.json: feed_forward_proj must be relu, not gated-gelu/,
  )
  const model = fixture('sam-audio-tiny')
  await assert.rejects(
    readChanged(readConfig, { ...model, transformer: { ...model.transformer, qk_norm: false } }),
    /config\.json: qk_norm must be true, not false/,
  )
  const judge = fixture('judge-tiny')
  await assert.rejects(
    readChanged(readJudgeConfig, {
      ...judge,
      text_model: { ...judge.text_model, norm_bias: true },
    }),
    /config\.json: norm_bias must be false, not true/,
  )
  await assert.rejects(
    readChanged(readJudgeConfig, {
      ...judge,
      transformer: { ...judge.transformer, hidden_act: 'gelu' },
    }),
    /config\.json: hidden_act must be silu, not gelu/,
  )
  const spans = fixture('pe-a-frame-tiny')
  await assert.rejects(
    readChanged(readSpanPredictorConfig, {
      ...spans,
      text_model: { ...spans.text_model, model_type: 'bert' },
    }),
    /config\.json: model_type must be modernbert, not bert/,
  )
})

test("settings that old files leave out have the reference's defaults", async () => {
  const { feed_forward_proj: _, relative_attention_max_distance: __, ...old } = fixture('t5-tiny')
  assert.deepEqual(
    await readChanged(readT5Config, old),
    await readChanged(readT5Config, fixture('t5-tiny')),
  )
})
