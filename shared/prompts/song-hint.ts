/** Points admins to a better model for songs if only the models from set-up answer. */

import { routePrompt, type RoutedModel } from './route-prompt.ts'

/** The models from set-up, which come last in the order of preference for song stems. */
const FROM_SETUP = ['mini', 'spleeter']

/** The model to fetch instead. */
const BETTER: RoutedModel = {
  name: 'scnet',
  answers: 'stems',
  stems: ['drums', 'bass', 'other', 'vocals'],
}
const OTHERWISE: RoutedModel = { name: '', answers: 'text', stems: [] }

/** For admins, who can fetch it; size and licence are those in the catalogue. */
export const SONG_HINT =
  'A better model for songs is free to use: `winnow model fetch scnet` (43 MB, MIT)'

/**
 * Whether `SONG_HINT` is useful: the better model has what the prompt asks for, and a model from
 * set-up answers, so no better one is installed.
 * @param model the name of the model that answers, if nobody chose it by name
 */
export const isSongHintFor = (prompt: string, model: string | undefined): boolean =>
  model !== undefined &&
  FROM_SETUP.includes(model) &&
  routePrompt(prompt, [BETTER, OTHERWISE]).model === BETTER.name
