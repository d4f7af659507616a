import assert from 'node:assert/strict'
import test from 'node:test'
import { Value } from 'typebox/value'
import { ServiceError } from '../../../../shared/errors.ts'
import { SeparationOptions } from '../../../../shared/separation-options.ts'
import { checkCreateFile, SUBMISSION_CHECKS } from '../../../../gateway/api/validation.ts'
import { fc } from '../../../support/basics/property.ts'

const { separate: checkSeparation } = SUBMISSION_CHECKS
const submission = (input: object) => checkSeparation({ input: { file_id: 'f', ...input } })

/** Inputs with a mix of valid and invalid fields. */
const anyInput = fc.record(
  {
    prompt: fc.oneof(fc.string({ unit: 'grapheme' }), fc.anything()),
    audio_url: fc.oneof(fc.webUrl(), fc.anything()),
    file_id: fc.oneof(fc.string(), fc.anything()),
    predict_spans: fc.oneof(fc.boolean(), fc.anything()),
    reranking_candidates: fc.oneof(fc.integer({ min: -1, max: 10 }), fc.anything()),
    max_chunk_duration: fc.oneof(fc.double({ min: -1, max: 400 }), fc.anything()),
    chunk_overlap: fc.oneof(fc.double({ min: -1, max: 40 }), fc.anything()),
    spans: fc.array(
      fc.record(
        {
          start: fc.double(),
          end: fc.double(),
          include: fc.option(fc.boolean(), { nil: undefined }),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
)

test('whatever is submitted, the result is valid options or a refusal that names a field', () => {
  fc.assert(
    fc.property(fc.oneof(fc.record({ input: anyInput }), fc.anything()), (body) => {
      let checked
      try {
        checked = checkSeparation(body)
      } catch (error) {
        assert.ok(error instanceof ServiceError && error.status === 400, String(error))
        return
      }
      assert.deepEqual(Value.Errors(SeparationOptions, checked.options), [])
      assert.ok([...checked.prompt].length >= 1 && [...checked.prompt].length <= 500)
    }),
    { numRuns: 500 },
  )
})

test('whatever is posted as a file, the result is a media type or a refusal', () => {
  fc.assert(
    fc.property(fc.string(), fc.anything(), (content_type, file_size) => {
      const body = { file_name: 'a', purpose: 'audio.separate.input', content_type, file_size }
      try {
        assert.match(checkCreateFile(body).content_type, /^(audio|video)\//i)
      } catch (error) {
        assert.ok(error instanceof ServiceError && [400, 415].includes(error.status), String(error))
      }
    }),
  )
})

test('a prompt is kept trimmed, in one Unicode form, with its case', () => {
  assert.equal(submission({ prompt: ' \u0041\u030a Bell.\n' }).prompt, '\u00c5 Bell.')
})

test('short chunks have a shorter overlap when none is asked for', () => {
  assert.equal(submission({ prompt: 'x', max_chunk_duration: 4 }).options.chunk_overlap, 2)
  assert.equal(submission({ prompt: 'x', max_chunk_duration: 30 }).options.chunk_overlap, 5)
})
