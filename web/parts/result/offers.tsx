import { useEffect, useId } from 'preact/hooks'
import type { VouchedSeparation } from '../../../shared/vouching.ts'
import type { Mixer, Section } from '../../audio/mixer.ts'
import {
  changeWords,
  offersOf,
  otherNames,
  separateHeard,
  tryName,
  unaskedSounds,
  vouch,
  type CompletedRequest,
} from '../../state/ask-again.ts'
import { whereOfHeard, type Finding } from '../../state/chip.ts'
import { sending, sendProblem } from '../../state/open-request.ts'
import { loadSeparatorsUntilKnown, separators } from '../../state/separators.ts'
import { timeText } from '../../../shared/time-text.ts'
import { Problem } from '../problem.tsx'

interface OffersProps extends CompletedRequest {
  /** Its loop marks where a sound is; null until there is one. */
  mixer: Mixer | null
}

/** Offers other separations of the same media, without another upload. */
export function Offers({ mixer, ...completed }: OffersProps) {
  useEffect(() => {
    return separators.value.length === 0 ? loadSeparatorsUntilKnown() : undefined
  }, [])
  const { findings = [] } = completed.result.data
  return (
    <section class="offers" aria-label="More from this file">
      {offersOf(completed).map((vouching) => (
        <Vouch
          key={vouching.sounds.join()}
          vouching={vouching}
          where={mixer?.loop.value ?? null}
          onPress={(where) => void vouch(completed, vouching, where)}
        />
      ))}
      <OtherNames completed={completed} findings={findings} />
      <AlsoHere completed={completed} />
      <button
        type="button"
        class="link"
        disabled={sending.value !== null}
        onClick={() => changeWords(completed)}
      >
        Not what you wanted? Change the words
      </button>
      <Problem>{sendProblem.value}</Problem>
    </section>
  )
}

interface VouchProps {
  vouching: VouchedSeparation
  where: Section | null
  onPress: (where: Section | null) => void
}

function Vouch({ vouching, where, onPress }: VouchProps) {
  const { does, sounds } = vouching
  const id = useId()
  const isOne = sounds.length === 1
  const acts = does === 'keep' ? 'don’t soften it' : isOne ? 'take it out' : 'take them out'
  const text = `${isOne ? 'It is' : 'They are'} there: ${acts}`
  return (
    <div>
      <button
        type="button"
        disabled={sending.value !== null}
        aria-label={`${text} (${sounds.join(', ')})`}
        aria-describedby={id}
        onClick={() => onPress(where)}
      >
        {text}
      </button>
      <p id={id} class="quiet">
        {describeVouched(vouching, where)}
      </p>
    </div>
  )
}

function describeVouched(
  { does, sounds, softenedDb }: VouchedSeparation,
  where: Section | null,
): string {
  const names = sounds.map((sound) => `“${sound}”`).join(' and ')
  const marked = where && `from ${timeText(where.start, 1)} to ${timeText(where.end, 1)}`
  const again = `Separates the same file again, assuming that ${names} can be heard`
  if (does === 'keep') {
    const level = `the target is up to ${Math.round(softenedDb)} dB louder`
    return marked
      ? `${again} ${marked}: there ${level}, elsewhere it is silent.`
      : `${again} throughout: ${level}. To mark only one part, loop it first.`
  }
  return marked
    ? `${again} ${marked}: more is taken out there, and nothing elsewhere.`
    : `${again} throughout: a little more is taken out, perhaps of other sounds too. To mark ` +
        'only one part, loop it first.'
}

interface OtherNamesProps {
  completed: CompletedRequest
  findings: readonly Finding[]
}

/** Names to try instead of sounds that were not found. */
function OtherNames({ completed, findings }: OtherNamesProps) {
  return findings.map((finding) => {
    const names = otherNames(finding)
    if (names.length === 0) return null
    const { prompt } = finding
    return (
      <div key={prompt} role="group" aria-label={`In place of ${prompt}`} class="choice">
        <span>Instead of “{prompt}”:</span>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            class="chip"
            disabled={sending.value !== null}
            onClick={() => void tryName(completed, finding, name)}
          >
            Try “{name}”
          </button>
        ))}
      </div>
    )
  })
}

/** Sounds of the same media that no prompt asked for. */
function AlsoHere({ completed }: { completed: CompletedRequest }) {
  const sounds = unaskedSounds(completed)
  if (sounds.length === 0) return null
  return (
    <div role="group" aria-label="Also in this file" class="choice">
      <span>Also in this file:</span>
      {sounds.map((sound) => (
        <button
          key={sound.name}
          type="button"
          class="chip"
          disabled={sending.value !== null}
          aria-label={`Separate ${sound.name}`}
          title={`Separates it from the same file. Heard at ${whereOfHeard(sound)}`}
          onClick={() => void separateHeard(completed, sound.name)}
        >
          {sound.name}
        </button>
      ))}
    </div>
  )
}
