/** Tells whoever runs the service of a better model for songs, where what set-up brings answers. */

import { routePrompt, type RoutedModel } from './route-prompt.ts'

/** What set-up brings; both are last in the order of preference for the stems of songs. */
const FROM_SETUP = ['mini', 'spleeter']

/** The model to fetch instead. */
const BETTER: RoutedModel = {
  name: 'scnet',
  answers: 'stems',
  stems: ['drums', 'bass', 'other', 'vocals'],
}
const OTHERWISE: RoutedModel = { name: '', answers: 'text', stems: [] }

/** Whoever runs the service can fetch it; size and licence are those of the catalogue. */
export const SONG_HINT =
  'A better model for songs is free to use: `winnow model fetch scnet` (43 MB, MIT)'

/**
 * Returns whether `SONG_HINT` is worth its line: the better model has what the prompt asks for, and
 * one that set-up brings answers it, so that no better one is installed.
 * @param model the name of the one that answers, as nobody chose it by its name
 */
export const isSongHintFor = (prompt: string, model: string | undefined): boolean =>
  model !== undefined &&
  FROM_SETUP.includes(model) &&
  routePrompt(prompt, [BETTER, OTHERWISE]).model === BETTER.name
