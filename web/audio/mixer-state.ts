/** How a mixer is set and where it plays, so that another one of the same lanes can go on. */

import type { Mixer, Section } from './mixer.ts'

export interface MixerState {
  lanes: { gainDb: number; isMuted: boolean; isSolo: boolean }[]
  position: number
  isPlaying: boolean
  loop: Section | null
  volume: number
  mixedBack: number
}

export const stateOf = (mixer: Mixer): MixerState => ({
  lanes: mixer.lanes.map(({ gainDb, isMuted, isSolo }) => ({
    gainDb: gainDb.peek(),
    isMuted: isMuted.peek(),
    isSolo: isSolo.peek(),
  })),
  position: mixer.position.peek(),
  isPlaying: mixer.isPlaying.peek(),
  loop: mixer.loop.peek(),
  volume: mixer.volume.peek(),
  mixedBack: mixer.mixedBack.peek(),
})

export function resume(mixer: Mixer, state: MixerState): void {
  for (const [i, { gainDb, isMuted, isSolo }] of state.lanes.entries()) {
    const lane = mixer.lanes[i]!
    lane.gainDb.value = gainDb
    lane.isMuted.value = isMuted
    lane.isSolo.value = isSolo
  }
  mixer.loop.value = state.loop
  mixer.volume.value = state.volume
  mixer.mixedBack.value = state.mixedBack
  mixer.seek(state.position)
  if (state.isPlaying) void mixer.play()
}
