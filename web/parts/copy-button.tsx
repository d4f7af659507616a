import { useEffect, useState } from 'preact/hooks'

/** Copies the text, and says whether that worked. */
export function CopyButton({ text }: { text: string }) {
  const [said, setSaid] = useState('')
  useEffect(() => setSaid(''), [text])
  const copy = async () => {
    // Undefined on pages that are neither served over HTTPS nor from localhost.
    const clipboard = navigator.clipboard as Clipboard | undefined
    if (!clipboard) throw new Error('the page must come over https')
    await clipboard.writeText(text)
    setSaid('Copied.')
  }
  const press = () =>
    void copy().catch((error: Error) => setSaid(`It can't be copied: ${error.message}.`))
  return (
    <>
      <button type="button" onClick={press}>
        Copy
      </button>
      <output>{said}</output>
    </>
  )
}
