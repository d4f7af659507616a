/** Keyboard shortcuts of the player. */

import type { Lane } from '../../audio/lane.ts'
import type { Mixer } from '../../audio/mixer.ts'

const STEP_SECONDS = 5

/** Listens until the returned function is called. */
export function listenToKeys(mixer: Mixer): () => void {
  const press = (event: KeyboardEvent) => {
    const { target, key, code, shiftKey, ctrlKey, metaKey, altKey } = event
    if (ctrlKey || metaKey || altKey) return
    if (target instanceof HTMLElement && target.closest('input, select, textarea')) return
    const isControl = target instanceof HTMLElement && target.closest('button, a, summary')
    if (isControl && (key === ' ' || key === 'Enter')) return
    const act = laneAction(code, shiftKey, mixer) ?? actionOf(key, mixer)
    if (!act) return
    event.preventDefault()
    act()
  }
  document.addEventListener('keydown', press)
  return () => document.removeEventListener('keydown', press)
}

/**
 * A digit plays one lane alone; with Shift it adds a lane.
 * @param code position of the key
 */
function laneAction(code: string, isAdded: boolean, mixer: Mixer): (() => void) | undefined {
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(code)?.[1]
  const lane = digit === undefined ? undefined : mixer.lanes[Number(digit) - 1]
  if (!lane) return undefined
  return () => (isAdded ? mixer.toggleSolo(lane) : soloOrAll(lane, mixer))
}

/** Plays one lane alone or, if it is already alone, all lanes again. */
function soloOrAll(lane: Lane, mixer: Mixer): void {
  const isAlone = mixer.lanes.every((other) => other.isSolo.value === (other === lane))
  if (isAlone) mixer.toggleSolo(lane)
  else mixer.solo(lane)
}

function actionOf(key: string, mixer: Mixer): (() => void) | undefined {
  const actions: Readonly<Record<string, () => void>> = {
    ' ': () => void mixer.toggle(),
    b: () => mixer.toggleComparison(),
    l: () => mixer.toggleLoop(),
    '[': () => mixer.moveLoopEdge('start'),
    ']': () => mixer.moveLoopEdge('end'),
    Home: () => mixer.seek(0),
    End: () => mixer.seek(mixer.seconds),
    ArrowLeft: () => mixer.seek(mixer.position.value - STEP_SECONDS),
    ArrowRight: () => mixer.seek(mixer.position.value + STEP_SECONDS),
  }
  return actions[key]
}
