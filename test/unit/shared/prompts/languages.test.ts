/** Prompts in ten languages: every name, negations, lists of sounds, and requests to remove noise. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { readFileSync } from 'node:fs'
import type { Language } from '../../../../shared/prompts/language.ts'
import { de } from '../../../../shared/prompts/languages/de.ts'
import { en } from '../../../../shared/prompts/languages/en.ts'
import { es } from '../../../../shared/prompts/languages/es.ts'
import { fr } from '../../../../shared/prompts/languages/fr.ts'
import { it } from '../../../../shared/prompts/languages/it.ts'
import { ja } from '../../../../shared/prompts/languages/ja.ts'
import { nl } from '../../../../shared/prompts/languages/nl.ts'
import { pt } from '../../../../shared/prompts/languages/pt.ts'
import { ru } from '../../../../shared/prompts/languages/ru.ts'
import { zh } from '../../../../shared/prompts/languages/zh.ts'
import { languageNames } from '../../../../shared/prompts/read-prompt.ts'
import { phrases, read } from '../../../support/basics/prompts.ts'

const ALL: readonly Language[] = [en, de, fr, es, it, pt, nl, ru, zh, ja]
const config = new URL('../../../../models/mini/weights/config.json', import.meta.url)
const NAMES = (JSON.parse(readFileSync(config, 'utf8')) as { names: string[] }).names

/** Words that mean something other than a sound. */
const MEANT: Record<string, string> = {
  noise: '* - speech',
  instrumental: '* - vocals',
  'clean speech': 'speech',
}

for (const { name, sounds } of ALL) {
  test(`${name} has every name of the built-in model, and each word has one meaning`, () => {
    assert.ok(languageNames().includes(name))
    assert.deepEqual(
      NAMES.filter((sound) => !(sound in sounds)),
      [],
    )
    for (const [sound, list] of Object.entries(sounds)) {
      for (const word of list.split(/,\s*/)) {
        assert.equal(read(word), MEANT[sound] ?? sound, word)
      }
    }
  })
}

/** Four sounds, with articles and cases where the language needs them, and forms of negation. */
const NEGATIONS: [sounds: Record<string, string>, forms: string[]][] = [
  [
    { drums: 'das Schlagzeug', voice: 'die Stimme', piano: 'das Klavier', dog: 'den Hund' },
    [
      ...['ohne X', 'X entfernen', 'entferne X', 'bitte entferne X', 'alles außer X', 'X weg'],
      ...['alles bis auf X', 'nicht X', 'lösche X', 'nimm X raus', 'X stummschalten', 'X löschen'],
      ...['das Lied ohne X', 'schalte X aus', 'X bitte herausfiltern', 'kannst du X entfernen?'],
    ],
  ],
  [
    { drums: 'la batterie', voice: 'la voix', piano: 'le piano', dog: 'le chien' },
    [
      ...['sans X', 'enlève X', 'enlever X', 'supprimer X', 'tout sauf X', 'pas X', 'retire X'],
      ...['tout à part X', 'la chanson sans X', 'coupez X', "s'il vous plaît, enlevez X"],
      ...['X en moins', 'je ne veux pas X', 'tout excepté X'],
    ],
  ],
  [
    { drums: 'la batería', voice: 'la voz', piano: 'el piano', dog: 'el perro' },
    [
      ...['sin X', 'quita X', 'quitar X', 'elimina X', 'todo menos X', 'todo excepto X', 'no X'],
      ...['silencia X', 'la canción sin X', 'por favor, quita X', 'no quiero X', 'todo salvo X'],
    ],
  ],
  [
    { drums: 'la batteria', voice: 'la voce', piano: 'il pianoforte', dog: 'il cane' },
    [
      ...['senza X', 'togli X', 'rimuovi X', 'elimina X', 'tutto tranne X', 'tutto eccetto X'],
      ...['non X', 'la canzone senza X', 'tutto meno X', 'per favore togli X', 'X via'],
    ],
  ],
  [
    { drums: 'a bateria', voice: 'a voz', piano: 'o piano', dog: 'o cachorro' },
    [
      ...['sem X', 'remova X', 'remover X', 'tire X', 'tudo menos X', 'tudo exceto X', 'não X'],
      ...['a canção sem X', 'retire X', 'elimine X', 'por favor, tire X', 'não quero X'],
    ],
  ],
  [
    { drums: 'de drums', voice: 'de stem', piano: 'de piano', dog: 'de hond' },
    [
      ...['zonder X', 'verwijder X', 'X verwijderen', 'alles behalve X', 'niet X', 'X weghalen'],
      ...['haal X weg', 'het liedje zonder X', 'X dempen', 'zet X uit', 'geen X'],
    ],
  ],
  [
    { drums: 'барабанов', voice: 'голоса', piano: 'пианино', dog: 'собаки' },
    ['без X', 'всё кроме X', 'песня без X', 'кроме X', 'убрать X', 'удали X', 'не X', 'убери X'],
  ],
  [
    { drums: '鼓声', voice: '人声', piano: '钢琴', dog: '狗叫声' },
    [
      ...['去掉X', '没有X', '除了X', '除了X以外', '去除X', '不要X', '把X去掉', '请去掉X', '消除X'],
      ...['除了X以外的所有声音', '移除X', '删除X', '没有X的音乐', 'X静音', '无X', 'X以外'],
    ],
  ],
  [
    { drums: 'ドラム', voice: '声', piano: 'ピアノ', dog: '犬' },
    [
      ...['Xなし', 'X抜き', 'Xを除去', 'Xを消して', 'X以外', 'Xを取り除いてください', 'X以外の音'],
      ...['Xを削除', 'Xをミュート', 'X無し', 'Xを除いて', 'Xのない曲', 'Xはいらない'],
    ],
  ],
]

test('in each language negated sounds are removed', () => {
  for (const [sounds, forms] of NEGATIONS) {
    for (const form of forms) {
      for (const [name, word] of Object.entries(sounds)) {
        const prompt = form.replace('X', word)
        assert.equal(read(prompt), `* - ${name}`, prompt)
      }
    }
  }
})

const READINGS: Record<string, string[]> = {
  drums: phrases(`
    alles außer dem Schlagzeug entfernen / entferne das Schlagzeug nicht / nur das Schlagzeug /
    n'enlève pas la batterie / seulement la batterie / no quites la batería / solo la batería /
    não remova a bateria / non togliere la batteria / alleen de drums / не убирай барабаны /
    только барабаны / 不要去掉鼓声 / 只保留鼓声 / ドラムだけ / ドラム以外を消して / 除了鼓声以外全部去掉 /
    Isoliere bitte das Schlagzeug / perkussion
  `),
  'piano + violin': phrases(`
    Klavier und Geige / piano et violon / piano y violín / pianoforte e violino /
    piano e violino / piano en viool / пианино и скрипка / 钢琴和小提琴 / ピアノとバイオリン
  `),
  speech: phrases(`
    isoliere die Sprache der Person, die vor dem Klavier spricht /
    Hintergrundgeräusche entfernen / supprimer le bruit de fond / quitar el ruido de fondo /
    rimuovi il rumore di fondo / remover o ruído de fundo / achtergrondgeluid verwijderen /
    убрать шум / 去除噪音 / ノイズ除去 / 去掉背景噪音 / 雑音を消して / Rauschunterdrückung
  `),
  '* - speech': phrases(`
    Hintergrundgeräusche / bruit de fond / ruido / rumore / шум / 噪音 / ノイズ
  `),
  '* - vocals': ['Playback', 'カラオケ', '伴奏', '卡拉OK', 'минусовка', 'karaoké', 'オフボーカル'],
  '* - drums': ['das Schlagzeug bitte nicht', 'de drums niet', 'Schlagzeug nicht'],
  voice: ['Stimme', 'voix', 'voz', 'voce', 'stem', 'голос', '人声', '声', 'STIMME'],
  flute: ['Flöte', 'Floete', 'flute', 'flûte'],
  드럼: ['드럼'],
  Waschbär: ['Waschbär'],
  '* - Rasenmäher': ['ohne Rasenmäher'],
}

for (const [expected, prompts] of Object.entries(READINGS)) {
  test(`is read as ${expected}: ${prompts.slice(0, 3).join(', ')}`, () => {
    for (const prompt of prompts) assert.equal(read(prompt), expected, prompt)
  })
}
