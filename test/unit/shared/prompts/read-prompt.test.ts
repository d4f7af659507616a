/** Prompts the way people write them: every form with every sound. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { readFileSync } from 'node:fs'
import { readPrompt } from '../../../../shared/prompts/read-prompt.ts'
import { phrases, read } from '../../../support/basics/prompts.ts'
import { fc } from '../../../support/basics/property.ts'

const config = new URL('../../../../models/mini/weights/config.json', import.meta.url)
const NAMES = (JSON.parse(readFileSync(config, 'utf8')) as { names: string[] }).names
/** All names except "noise", because nobody who writes it wants to keep it. */
const PLAIN = NAMES.filter((name) => name !== 'noise')

test('each name of the built-in model is read as itself, and in capitals', () => {
  assert.equal(NAMES.length, 122)
  for (const name of PLAIN) {
    for (const prompt of [name, name.toUpperCase(), `the ${name}`, `Please isolate the ${name}.`]) {
      assert.equal(read(prompt), name, prompt)
    }
  }
  assert.equal(read('noise'), '* - speech')
})

const NEGATIONS = phrases(`
  no X / without X / without the X / without any X / w/o X / not X / not the X / -X / minus X /
  minus the X / sans X / excluding the X / everything but X / all but the X /
  everything but the X / everything except X / everything except for the X / song - X /
  everything besides the X / everything other than X / everything apart from the X /
  all sounds aside from X / anything but X / everything else but X / everything minus X /
  everything that is not X / the song without X / the mix, but no X / a recording with no X /
  remove X / remove the X / remove all X / please remove the X / mute the X / drop the X /
  cut the X / cut out the X / strip the X / strip away the X / delete the X / kill the X /
  get rid of the X / take out the X / take the X out / take away the X / leave out the X /
  leave the X out / silence the X / erase X / exclude X / eliminate the X / turn off the X /
  turn the X off / filter out the X / suppress the X / subtract the X / omit the X /
  remove the X from the song / take the X out of this track / can you remove the X please? /
  I don't want the X / I don't want to hear the X / the song with the X removed / X removed /
  X-free / X removal / X remover / X muted / I would like the X to be removed / NO X! /
  song without X please / could you give me the audio without the X / free of X / non-X /
  don't include the X / less X / how do I get rid of the X? / would you mind taking out X
`)

test('negated sounds are removed, in whatever words', () => {
  for (const form of NEGATIONS) {
    for (const name of PLAIN) {
      const prompt = form.replace('X', name)
      if (prompt.includes('voice from the song')) continue // means the singer's
      assert.equal(read(prompt), `* - ${name}`, prompt)
    }
  }
})

const AFFIRMATIONS = phrases(`
  don't remove the X / do not mute the X / not without the X / nothing but the X / only X /
  remove everything but the X / mute everything except X / delete all sounds but the X /
  remove everything else, keep the X / keep the X / just the X / nothing except the X /
  is there an X? / where is the X? / give me the X / can you please extract the X for me /
  never drop the X / the X, nothing else / keep the X and remove the rest / X only /
  I want the X / the sound of X / please, only the X / extract the X from this recording
`)

test('sounds that are negated twice, asked for or asked about are wanted', () => {
  for (const form of AFFIRMATIONS) {
    for (const name of PLAIN) {
      const prompt = form.replace('X', name)
      assert.equal(read(prompt), name, prompt)
    }
  }
})

const ALONE = ['speech', 'piano', 'dog', 'siren', 'rain', 'drum kit', 'footsteps', 'flute', 'knock']
const PAIRS = ALONE.flatMap((one) => ALONE.filter((two) => two !== one).map((two) => [one, two]))

test('two sounds are their sum', () => {
  const forms = phrases(`
    X and Y / X & Y / X + Y / X, Y / X plus Y / X as well as Y / both X and Y / X; Y /
    the X and the Y / X/Y / X along with Y / X and also the Y / isolate the X and Y please /
    X or Y / X with Y / X together with the Y
  `)
  for (const form of forms) {
    for (const [one, two] of PAIRS) {
      const prompt = form.replace('X', one!).replace('Y', two!)
      assert.equal(read(prompt), `${one} + ${two}`, prompt)
    }
  }
})

test('one of two sounds may be negated, or both', () => {
  for (const [one, two] of PAIRS) {
    const readForm = (form: string) => read(form.replace('X', one!).replace('Y', two!))
    for (const form of ['X, not Y', 'X but not Y', 'X without Y', 'X, no Y', 'X but no Y']) {
      assert.equal(readForm(form), one, form)
    }
    for (const form of ['no X and no Y', 'remove X and Y', 'everything but X and Y', 'no X or Y']) {
      assert.equal(readForm(form), `* - ${one} + ${two}`, form)
    }
    for (const form of ['remove the X and keep the Y', 'remove the X but not the Y']) {
      assert.equal(readForm(form), `* - ${one}`, form)
    }
  }
})

const READINGS: Record<string, string[]> = {
  speech: phrases(`
    denoise / clean up the audio / remove background noise / remove the noise / no noise /
    enhance the speech / speech without noise / speech in noise / noise removal / no-noise /
    Clean up this recording, please / reduce the background noise / noise-free speech / De-noise /
    speech enhancement / clean speech / get rid of the noise / clean audio /
    can you please extract the speech of the person who is talking in front of the piano / 🗣️ /
    the voice of the person that is sitting next to the dog
  `),
  '* - speech': ['noise', 'background noise', 'the background', 'the noise in the background'],
  '* - vocals': phrases(`
    karaoke / instrumental / backing track / minus one / no vocals / music without vocals /
    karaoke version / off vocal / the instrumental of this song / vocal remover
  `),
  vocals: ['acapella', 'a cappella', 'no instrumental', 'just vocals, no instruments'],
  'speech - woman': ['speech without the woman', 'speech, but not the woman'],
  'drums - hi-hat': ['drums but no hi-hat', 'drums (no hi-hat)'],
  'drums + bass': ['drums and bass', 'drums | bass', 'drums, bass and drums'],
  drums: ['drums and drums', 'drums and kick drum', 'drums or percussion', '<b>drums</b>'],
  'drum and bass': ['drum and bass', 'Drum and bass'.toLowerCase()],
  'rock and roll': ['rock and roll'],
  'salt and pepper shaker': ['the salt and pepper shaker'],
  'hi-hat': ['hi-hat', 'hihat', 'the hi hats'],
  'hand saw': ['hand saw'],
  knock: ['knock on the door'],
  'water dripping': ['water drop'],
  woman: ['the voice of a woman', 'woman speaking in front of a crowd', 'a lady'],
  piano: ['the man playing the piano', 'piano with reverb', 'PIANO', 'a piano in the background'],
  fan: ['the noise of a fan'],
  '* - fan': ['remove the fan noise'],
  'loud pianist': ['loud pianist'],
  kettle: ['the kettle in front of the piano'],
  '* - kettle': ['no kettle'],
  speach: ['speach'],
  Steinway: ['Steinway'],
  'drums + guitar': ['🥁 and 🎸', 'I would love to have only the drums and the guitar'],
  '* - bass': ['bass-less', 'nix the bass', 'I hate the bass', 'no bass :-)'],
  '🪗': ['🪗'],
  no: ['no'],
  '': [''],
}

for (const [expected, prompts] of Object.entries(READINGS)) {
  test(`is read as ${expected || 'nothing'}: ${prompts.slice(0, 3).join(', ')}`, () => {
    for (const prompt of prompts) assert.equal(read(prompt), expected, prompt)
  })
}

const word = fc.constantFrom(
  ...['no', 'not', 'without', 'remove', 'everything', 'but', 'and', ',', 'the', 'keep', 'only'],
  ...['drums', 'piano', 'noise', 'instrumental', 'kettle', 'of', 'in front of', 'off', 'removed'],
  ...['nothing', 'except', 'with', 'turn', 'playing', '-', ' - ', 'speech', 'woman', 'music'],
)

test('every prompt has a reading, in which each sound has a name and appears once', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 500 }),
    fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
  )
  fc.assert(
    fc.property(texts, (prompt) => {
      const { wanted, unwanted, asked } = readPrompt(prompt)
      assert.ok(asked.length > 0)
      for (const side of [wanted, unwanted]) {
        const names = side.map(({ name }) => name)
        assert.equal(new Set(names).size, names.length)
      }
    }),
  )
})
