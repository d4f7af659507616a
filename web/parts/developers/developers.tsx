import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../../state/credential.ts'
import { installLine, readPackages, type ClientPackage } from '../../state/developers.ts'
import { source, type Source } from '../../state/draft.ts'
import { CopyButton } from '../copy-button.tsx'
import { useLostFocus } from '../focus.ts'
import { Snippets } from '../new/snippets.tsx'
import { Endpoints } from './endpoints.tsx'
import { Keys } from './keys.tsx'
import { Webhooks } from './webhooks.tsx'
import { Problem } from '../problem.tsx'

/** Appears in the code as long as the form has no media. */
const EXAMPLE: Source = {
  kind: 'file',
  name: 'song.wav',
  contentType: 'audio/wav',
  bytes: new Blob(),
}

/** Keys, clients, code and webhooks for those who call the service from a program. */
export function Developers() {
  const heading = useLostFocus<HTMLHeadingElement>()
  const chosen = source.value
  return (
    <div class="card developers">
      <h1 ref={heading} tabIndex={-1}>
        Developers
      </h1>
      <p>
        The <a href="docs/how-to/api.html">guide to the API</a> and its{' '}
        <a href="docs/reference/api.html">reference</a> name this service in their code.
      </p>
      <Keys />
      <Clients />
      <section aria-labelledby="call">
        <h2 id="call">One call</h2>
        <p>
          The request of the form, as code: it reads a key from <code>WINNOW_API_KEY</code>, waits
          for the result and saves its files.
        </p>
        <Snippets source={chosen && chosen.kind !== 'files' ? chosen : EXAMPLE} isOpen />
      </section>
      <Endpoints />
      <Webhooks />
    </div>
  )
}

/** Shows how to install the clients that this service offers. */
function Clients() {
  const [packages, setPackages] = useState<ClientPackage[] | null>(null)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    readPackages().then(setPackages, (error: unknown) => setProblem(messageOf(error)))
  }, [])
  return (
    <section aria-labelledby="clients">
      <h2 id="clients">Install a client</h2>
      {packages?.length === 0 && <p>This service has no clients to install.</p>}
      {packages?.map((client) => (
        <figure key={client.file_name}>
          <figcaption>
            {client.language === 'python' ? 'Python' : 'TypeScript and JavaScript'}
          </figcaption>
          <pre tabIndex={0}>
            <code>{installLine(client)}</code>
          </pre>
          <CopyButton text={installLine(client)} />
          <small>SHA-256 {client.sha256}</small>
        </figure>
      ))}
      <Problem>{problem}</Problem>
    </section>
  )
}
