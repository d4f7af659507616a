import { languageNames } from '../../../shared/prompts/read-prompt.ts'

const EXAMPLES: readonly [string, string][] = [
  ['dog barking', 'one sound'],
  ['speech and piano', 'several sounds in one file; a field for each gives a file for each'],
  ['no drums', 'everything but a sound'],
  ['speech without the woman', 'a sound without a part of it'],
  ['denoise', 'the speech alone'],
  ['karaoke', 'a song without the singer'],
]

/** Shows what prompts can look like. */
export function PromptHelp() {
  return (
    <details>
      <summary>What prompts understand</summary>
      <dl class="examples-of-prompts">
        {EXAMPLES.map(([prompt, meaning]) => (
          <div key={prompt}>
            <dt>{prompt}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        They are read in {languageNames().join(', ')}. The line below says how a prompt is read.
      </p>
    </details>
  )
}
