import type { ComponentChildren } from 'preact'
import { filledPrompts, PROMPTS_MAX, togglePrompt } from '../../state/draft.ts'

interface SoundChipsProps<Sound> {
  sounds: readonly Sound[]
  nameOf(sound: Sound): string
  titleOf?(sound: Sound): string
  /** Whether the buttons have the usual size; by default they are small. */
  isLarge?: boolean
  /** Content after the name. */
  children?(sound: Sound): ComponentChildren
}

/** A button for each sound that adds it to the prompts or removes it. */
export function SoundChips<Sound>(props: SoundChipsProps<Sound>) {
  const { sounds, nameOf, titleOf, isLarge = false, children } = props
  const prompts = filledPrompts().map((prompt) => prompt.toLowerCase())
  const isFull = prompts.length >= PROMPTS_MAX
  return (
    <>
      {sounds.map((sound) => {
        const name = nameOf(sound).toLowerCase()
        return (
          <button
            key={name}
            type="button"
            class={isLarge ? undefined : 'chip'}
            aria-pressed={prompts.includes(name)}
            disabled={isFull && !prompts.includes(name)}
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
