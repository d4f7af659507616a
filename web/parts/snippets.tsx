import { useState } from 'preact/hooks'
import { LANGUAGES, snippet, type Language } from '../state/snippet.ts'

/** The request as code to copy. */
export function Snippets() {
  const [language, setLanguage] = useState<Language>('curl')
  const [isCopied, setCopied] = useState(false)
  const text = snippet(language)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
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
              setCopied(false)
            }}
          >
            {name}
          </button>
        ))}
        <button type="button" onClick={() => void copy().catch(() => setCopied(false))}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      </div>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </details>
  )
}
