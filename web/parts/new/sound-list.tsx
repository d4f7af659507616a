import { useState } from 'preact/hooks'
import { groupSounds } from '../../../shared/prompts/sounds.ts'
import { soundNames } from '../../state/separators.ts'
import { SoundChips } from './sound-chips.tsx'

/** The sounds that the models know, by group, to choose prompts from. */
export function SoundList() {
  const [filter, setFilter] = useState('')
  const names = soundNames()
  if (names.length === 0) return null
  const text = filter.trim().toLowerCase()
  const groups = groupSounds(names.filter((name) => name.toLowerCase().includes(text)))
  return (
    <details class="sound-list">
      <summary>Browse {names.length} sounds</summary>
      <label>
        Filter
        <input
          type="search"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      </label>
      {groups.map(({ group, sounds }) => (
        <Group key={group} group={group} sounds={sounds} />
      ))}
      {groups.length === 0 && (
        <p class="quiet">No listed sound has this name. Any description may be typed above.</p>
      )}
    </details>
  )
}

const Group = ({ group, sounds }: { group: string; sounds: readonly string[] }) => (
  <div role="group" aria-label={group} class="sound-group">
    <h3>{group}</h3>
    <div class="choice">
      <SoundChips sounds={sounds} nameOf={(sound) => sound} />
    </div>
  </div>
)
