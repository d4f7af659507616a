import { useState } from 'preact/hooks'
import type { Source } from '../state/draft.ts'
import { LANGUAGES, snippet, type Language } from '../state/snippet.ts'

/** The request as code to copy. */
export function Snippets({ source }: { source: Source }) {
  const [language, setLanguage] = useState<Language>('curl')
  const [copied, setCopied] = useState('')
  const text = snippet(language, source)
  const copy = async () => {
    // Undefined on pages that came neither over HTTPS nor from localhost.
    const clipboard = navigator.clipboard as Clipboard | undefined
    if (!clipboard) throw new Error('the page must come over https')
    await clipboard.writeText(text)
    setCopied('Copied.')
  }
  return (
    <details class="snippets">
      <summary>The same from your own code</summary>
      <div role="group" aria-label="Language" class="choice">
        {LANGUAGES.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === language}
            onClick={() => {
              setLanguage(name)
              setCopied('')
            }}
          >
            {name}
          </button>
        ))}
        <button
          type="button"
          onClick={() =>
            void copy().catch((error: Error) => setCopied(`It can't be copied: ${error.message}.`))
          }
        >
          Copy
        </button>
        <output>{copied}</output>
      </div>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </details>
  )
}
