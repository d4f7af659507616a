import assert from 'node:assert/strict'
import test from 'node:test'
import { readingsOf } from '../../../../web/parts/status-text.ts'

test('how a prompt was read is shown if no finding shows it', () => {
  const prompts = ['no drums', 'vocals', 'karaoke']
  const text = (prompt: string, reading: string) => `“${prompt}” was read as: ${reading}.`
  assert.deepEqual(readingsOf(prompts), [
    text('no drums', 'everything but the drums'),
    text('karaoke', 'everything but the vocals'),
  ])
  const finding = {
    prompt: 'no drums',
    state: 'found',
    message: 'Everything but the drums.',
  } as const
  assert.deepEqual(readingsOf(prompts, [finding]), [text('karaoke', 'everything but the vocals')])
})
