import assert from 'node:assert/strict'
import test from 'node:test'
import { isModelName } from '../../../../models/installed/record.ts'
import { ServiceError } from '../../../../shared/errors.ts'
import {
  routePrompt,
  type Question,
  type RoutedModel,
} from '../../../../shared/prompts/route-prompt.ts'
import { readPrompt } from '../../../../shared/prompts/read-prompt.ts'
import { plainText } from '../../../../shared/prompts/tokens.ts'
import { SEPARATOR_PATTERN } from '../../../../shared/separation-options.ts'
import { phrases } from '../../../support/basics/prompts.ts'
import { fc } from '../../../support/basics/property.ts'

const text = (name: string): RoutedModel => ({ name, answers: 'text', stems: [] })
const stems = (name: string, ...names: string[]): RoutedModel => ({
  name,
  answers: 'stems',
  stems: names,
})
const HTDEMUCS = stems('htdemucs', 'drums', 'bass', 'other', 'vocals')
const SIX = stems('htdemucs_6s', 'drums', 'bass', 'other', 'vocals', 'guitar', 'piano')
const FILM = stems('film', 'speech', 'music', 'sfx')
const AUDIOSEP = text('audiosep-hive')
const MINI = text('mini')
const ALL = [HTDEMUCS, SIX, FILM, AUDIOSEP, MINI]

/** Shows a route as one line: `htdemucs - vocals` is the mixture without vocals. */
function routeText(
  prompt: string,
  models: readonly RoutedModel[] = ALL,
  separator?: string,
): string {
  const route = routePrompt(prompt, models, separator)
  const sum = (questions: readonly Question[]) => questions.flatMap(({ stems }) => stems).join('+')
  const less = sum(route.unwanted) === '' ? [] : ['-', sum(route.unwanted)]
  return [route.model, sum(route.wanted), ...less].filter((part) => part !== '').join(' ')
}

const refusal = (message: RegExp) => (error: unknown) =>
  error instanceof ServiceError && error.code === 'INVALID_PARAMETER' && message.test(error.message)

const PHRASINGS: Record<string, string[]> = {
  'htdemucs vocals': [
    ...phrases(`
    vocals / Vocals / vocal / the vocals / isolate the lead vocals / ボーカル / Gesang / acapella /
    a cappella / A Cappella! / singing / the singing voice / vocal track / voice of the song /
    the singer's voice / extract the vocals from this song please / only the vocals /
    vocals only / vocals without music / just vocals, no instruments / vocals, no drums /
    everything except the instrumental / vocals stem / vocals_stem
  `),
    ' VOCALS. ',
  ],
  'htdemucs - vocals': phrases(`
    instrumental / the instrumental version / karaoke / karaoke track / no vocals /
    without vocals / without the vocals / song without vocals / backing track /
    music without singing / music without vocals / remove the vocals from the song /
    everything but the vocals / all but the singing / minus vocals / no vocal /
    just remove the vocals / instrumental and drums / instrumental, no vocals /
    the mix without voice of the singer
  `),
  'htdemucs drums': phrases(`
    drums / drum kit / the drum set / percussion / drums without the noise / sound of drums /
    drumkit
  `),
  'htdemucs bass': phrases(`
    bass / bass guitar / the bass line / bassline / electric bass / no drums, only bass
  `),
  'htdemucs other': ['other', 'everything else', 'the rest', 'other sounds', 'all else'],
  'htdemucs drums+bass': [
    ...['drums and bass', 'bass and drums', 'drums + bass', 'drums & bass', 'drums, bass'],
    ...['bass/drums', 'the bass, and the drums', 'drums plus bass', 'drums and drums and bass'],
    ...['drums and bass without vocals'],
  ],
  'htdemucs - drums': phrases(`
    no drums / without drums / song without the drums / not drums / music without drums
  `),
  'htdemucs - drums+vocals': [
    ...['no vocals, no drums', 'without vocals and drums', 'instrumental without drums'],
  ],
  'htdemucs drums+bass+other+vocals': ['vocals, drums, bass and other'],
  'htdemucs_6s guitar': ['guitar', 'the guitars', 'acoustic guitar', 'electric guitar track'],
  'htdemucs_6s piano': ['piano', 'keys', 'grand piano'],
  'htdemucs_6s drums+piano': ['piano and drums'],
  'htdemucs_6s - guitar': ['no guitar'],
  'film speech': ['dialogue', 'speech', 'dialog', 'spoken words', 'speech without music'],
  'film music': ['music', 'background music', 'music without dialogue'],
  'film sfx': ['effects', 'sound effects', 'fx'],
  'film - speech': ['no dialogue', 'without speech'],
  'film music+sfx': ['music and effects'],
  'audiosep-hive': [
    ...phrases(`
    dog barking / woman speaking / vocals of a bird / electric bass drop siren / voice / . / , /
    and / no / without / only / no sound / the track / song / all / bass drum / drums bass /
    vocals drums / drum roll / backing vocals / female vocals / guitar solo / bird singing /
    singing bowl / keyboard typing / kick drum / a bass fish / drums without drums /
    drums but no hi-hat / stem 1 / 🦤 / __proto__ / constructor / vocals and dialogue /
    music and vocals / drums and a dog
  `),
    '',
    ' ',
  ],
}

for (const [expected, prompts] of Object.entries(PHRASINGS)) {
  test(`goes to ${expected}: ${prompts.slice(0, 3).join(', ')} …`, () => {
    for (const prompt of prompts) assert.equal(routeText(prompt), expected, `"${prompt}"`)
  })
}

test('without a model that has the stems, the first text model answers', () => {
  for (const prompt of ['vocals', 'karaoke', 'guitar', 'drums and bass']) {
    assert.equal(routeText(prompt, [AUDIOSEP, MINI]), 'audiosep-hive')
  }
  assert.equal(routeText('guitar', [HTDEMUCS, MINI]), 'mini')
  assert.equal(routeText('music', [HTDEMUCS, MINI]), 'mini')
  assert.equal(routeText('drums and guitar', [HTDEMUCS, MINI]), 'mini')
})

test('the order of models is the order of preference', () => {
  assert.equal(routeText('vocals', [MINI, SIX, HTDEMUCS]), 'htdemucs_6s vocals')
  assert.equal(routeText('a dog', [MINI, AUDIOSEP]), 'mini')
})

test('stems are known by the names that a model has for them', () => {
  const kim = stems('kim', 'Vocals')
  assert.equal(routeText('the lead vocals', [kim]), 'kim Vocals')
  assert.equal(routeText('karaoke', [kim]), 'kim - Vocals')
  const instrumental = stems('inst', 'No Vocals')
  assert.equal(routeText('karaoke', [instrumental]), 'inst No Vocals')
  assert.equal(routeText('vocals', [instrumental]), 'inst - No Vocals')
  assert.equal(
    routeText('without vocals', [stems('both', 'vocals', 'Instrumental')]),
    'both - vocals',
  )
  const odd = stems('odd', 'Crowd_Noise', 'lead', '???', 'Vocals', 'vocals')
  assert.equal(routeText('the crowd noise', [odd]), 'odd Crowd_Noise')
  assert.equal(routeText('no crowd noise', [odd]), 'odd - Crowd_Noise')
  assert.equal(routeText('lead and vocals', [odd]), 'odd lead+Vocals')
})

test('"other" is the instrumental in a model with only that and vocals', () => {
  assert.equal(routeText('karaoke', [stems('x', 'other')]), 'x other')
  assert.equal(routeText('vocals', [stems('x', 'other')]), 'x - other')
  assert.equal(routeText('karaoke', [stems('x', 'vocals', 'other')]), 'x - vocals')
  assert.equal(routeText('vocals', [stems('x', 'drums', 'other'), MINI]), 'mini')
})

test('"other" goes to a model with that stem next to drums and bass, if there is one', () => {
  const both = [stems('kim', 'vocals', 'other'), HTDEMUCS, MINI]
  assert.equal(routeText('other', both), 'htdemucs other')
  assert.equal(routeText('without everything else', both), 'htdemucs - other')
  assert.equal(routeText('vocals and other', both), 'htdemucs other+vocals')
  assert.equal(routeText('instrumental', both), 'kim - vocals')
  assert.equal(routeText('other', [both[0]!, MINI]), 'kim other')
  assert.equal(routeText('other', both, 'kim'), 'kim other')
})

test('a separator is used, or refused with the available ones', () => {
  assert.equal(routeText('vocals', ALL, 'mini'), 'mini')
  assert.equal(routeText('vocals', ALL, 'htdemucs_6s'), 'htdemucs_6s vocals')
  const models = 'htdemucs \\(drums, bass, other, vocals\\); .*; mini \\(any prompt\\)'
  assert.throws(
    () => routePrompt('vocals', ALL, 'demucs'),
    refusal(new RegExp(`^There is no model "demucs"; the models here are ${models}\\.$`)),
  )
  assert.throws(
    () => routePrompt('guitar', ALL, 'htdemucs'),
    refusal(new RegExp(`^"guitar" is not one of the stems that htdemucs can give; .*${models}`)),
  )
  assert.throws(
    () => routePrompt('a dog', [HTDEMUCS, FILM]),
    refusal(/^"a dog" is not one of the stems that htdemucs, film can give; .*film \(speech/),
  )
  assert.throws(() => routePrompt('a dog', []), refusal(/^There is no model\.$/))
})

const word = fc.constantFrom(
  ...['vocals', 'drums', 'bass', 'no', 'without', 'and', ',', 'the', 'music', 'instrumental'],
  ...['only', 'everything', 'but', 'else', 'dog', 'karaoke', 'a', 'cappella', 'of', 'song'],
)
const prompts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
)

test('with a text model every prompt has a route, of stems that the model has', () => {
  fc.assert(
    fc.property(prompts, (prompt) => {
      const route = routePrompt(prompt, ALL)
      assert.deepEqual(route, routePrompt(prompt, ALL), 'deterministic')
      const model = ALL.find(({ name }) => name === route.model)!
      const questions = [...route.wanted, ...route.unwanted]
      assert.ok(questions.length > 0)
      for (const { stems } of questions) {
        assert.ok(stems.every((stem) => model.stems.includes(stem)))
        assert.equal(new Set(stems).size, stems.length)
        assert.equal(stems.length > 0, model.answers === 'stems')
      }
    }),
  )
})

test('case, articles and politeness do not matter', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (words) => {
      const prompt = words.join(' ')
      const politePrompt = `Please isolate the ${prompt.toUpperCase()}!`
      const { asked } = readPrompt(prompt)
      if (asked.some(({ sound }) => sound === plainText(prompt))) return // passed on as it is written
      const lowerCaseRoute = (text: string) => {
        const { wanted, unwanted } = routePrompt(text, ALL)
        return JSON.stringify([wanted, unwanted]).toLowerCase()
      }
      assert.equal(lowerCaseRoute(politePrompt), lowerCaseRoute(prompt))
    }),
  )
})

test('the work grows with the length of the prompt, not faster', () => {
  for (const part of ['vocals and ', 'the ', ', ', 'x', ' no', '\u0301', 'ﷺ', "'"]) {
    routePrompt(part.repeat(5_000), ALL)
  }
})

test('a separator may be any valid model name', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z0-9_.-]{1,42}$/)), (name) => {
      assert.equal(new RegExp(SEPARATOR_PATTERN).test(name), isModelName(name))
    }),
  )
})
