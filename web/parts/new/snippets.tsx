import { useState } from 'preact/hooks'
import type { Source } from '../../state/draft.ts'
import { LANGUAGES, snippet, type Language } from '../../state/snippet.ts'
import { CopyButton } from '../copy-button.tsx'

/** The request as code to copy. */
export function Snippets({ source, isOpen = false }: { source: Source; isOpen?: boolean }) {
  const [language, setLanguage] = useState<Language>('curl')
  const text = snippet(language, source)
  return (
    <details class="snippets" open={isOpen}>
      <summary>The same from your own code</summary>
      <div role="group" aria-label="Language" class="choice">
        {LANGUAGES.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === language}
            onClick={() => setLanguage(name)}
          >
            {name}
          </button>
        ))}
        <CopyButton text={text} />
      </div>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </details>
  )
}
