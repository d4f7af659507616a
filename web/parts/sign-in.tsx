import { useState } from 'preact/hooks'
import { credentialNotice, messageOf, useKey } from '../state/credential.ts'
import { useLostFocus } from './focus.ts'
import { Problem } from './problem.tsx'

export function SignIn() {
  const heading = useLostFocus<HTMLHeadingElement>()
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    await useKey(key.trim()).catch((error: unknown) => setProblem(messageOf(error)))
    setBusy(false)
  }
  return (
    <section class="card narrow" aria-labelledby="sign-in">
      <h1 id="sign-in" ref={heading} tabIndex={-1}>
        Take one sound out of a recording
      </h1>
      <p>
        Enter an API key. It stays in this tab alone. <code>npm start</code> keeps one in{' '}
        <code>data/api-key</code>, and prints an address of this page that needs none.
      </p>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          API key
          <input
            type="password"
            autocomplete="off"
            required
            value={key}
            placeholder="sep_…"
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
        </label>
        <button class="primary" disabled={isBusy}>
          Continue
        </button>
      </form>
      <Problem>{problem || credentialNotice.value}</Problem>
    </section>
  )
}
