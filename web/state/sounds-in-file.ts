/** Asks the service which sounds the source in the form contains. */

import { signal } from '@preact/signals'
import type { Client } from '../../clients/typescript/client.ts'
import type { HeardSound } from './chip.ts'
import { currentClient, messageOf, retryWithNewCredential } from './credential.ts'
import { source, type Source } from './draft.ts'
import { send, sending } from './open-request.ts'
import { placeOf } from './submit.ts'

export interface SoundsInFile {
  isListening: boolean
  /** Null if nobody has asked, or there is no answer yet. */
  sounds: readonly HeardSound[] | null
  problem: string
}

const NOTHING: SoundsInFile = { isListening: false, sounds: null, problem: '' }

export const soundsInFile = signal<SoundsInFile>(NOTHING)

let listening = new AbortController()

// Another source has other sounds.
source.subscribe(() => {
  listening.abort()
  soundsInFile.value = NOTHING
})

/** Shows what the source contains, after sending it if the service does not have it. */
export const askForSounds = (chosen: Source): Promise<void> =>
  send(async (abort) => {
    const onProgress = (part: number) => (sending.value = { part, abort })
    const place = await placeOf(chosen, currentClient(abort.signal), onProgress)
    // The form is usable in the meantime, and may have another source by now.
    if (source.peek() === chosen) void listen(chosen, place)
  })

async function listen(
  chosen: Source,
  place: Parameters<Client['submitSounds']>[0]['input'],
): Promise<void> {
  listening = new AbortController()
  const { signal } = listening
  soundsInFile.value = { ...NOTHING, isListening: true }
  try {
    const request = await currentClient(signal).submitSounds({ input: place })
    const { data } = await retryWithNewCredential(() =>
      currentClient(signal).waitForSounds(request),
    )
    if (source.peek() === chosen) soundsInFile.value = { ...NOTHING, sounds: data.sounds }
  } catch (error) {
    if (!signal.aborted) soundsInFile.value = { ...NOTHING, problem: messageOf(error) }
  }
}
