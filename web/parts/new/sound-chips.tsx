import type { ComponentChildren } from 'preact'
import { filledPrompts, PROMPTS_MAX, togglePrompt } from '../../state/draft.ts'

interface SoundChipsProps<Sound> {
  sounds: readonly Sound[]
  nameOf(sound: Sound): string
  titleOf?(sound: Sound): string
  /** What stands after the name. */
  children?(sound: Sound): ComponentChildren
}

/** A button for each sound that adds it to the prompts or removes it. */
export function SoundChips<Sound>({ sounds, nameOf, titleOf, children }: SoundChipsProps<Sound>) {
  const given = filledPrompts().map((prompt) => prompt.toLowerCase())
  const isFull = given.length >= PROMPTS_MAX
  return (
    <>
      {sounds.map((sound) => {
        const name = nameOf(sound).toLowerCase()
        return (
          <button
            key={name}
            type="button"
            class="chip"
            aria-pressed={given.includes(name)}
            disabled={isFull && !given.includes(name)}
            title={titleOf?.(sound)}
            onClick={() => togglePrompt(name)}
          >
            {name}
            {children?.(sound)}
          </button>
        )
      })}
    </>
  )
}
