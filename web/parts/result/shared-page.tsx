import { useEffect, useState } from 'preact/hooks'
import type { Peaks } from '../../../clients/typescript/client.ts'
import { currentClient } from '../../state/credential.ts'
import { readShared, type SharedView } from '../../state/shared-result.ts'
import { Outputs } from './outputs.tsx'
import { Time } from '../time.tsx'
import { Problem } from '../problem.tsx'

/** Plays a result for anybody who has its address. */
export function SharedPage({ secret }: { secret: string }) {
  const [shared, setShared] = useState<SharedView | null>(null)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    readShared(secret).then(setShared, (error: Error) => setProblem(error.message))
  }, [secret])
  if (problem) {
    return (
      <section class="card narrow" aria-labelledby="shared">
        <h1 id="shared">This result can't be played</h1>
        <Problem>{problem}</Problem>
      </section>
    )
  }
  if (!shared)
    return (
      <p role="status" class="quiet">
        Loading…
      </p>
    )
  const { request, result, expiresAt } = shared
  return (
    <section class="card" aria-labelledby="shared">
      <h1 id="shared">{request.name}</h1>
      <p>
        <strong>{request.prompts.join(', ')}</strong> <span class="quiet">shared with you</span>
      </p>
      <Outputs
        request={request}
        read={() => Promise.resolve(result)}
        readPeaks={() => peaksOf(shared)}
        below={() => (
          <p class="quiet">
            This address works until <Time at={expiresAt} />.
          </p>
        )}
      />
    </section>
  )
}

async function peaksOf({ peaksUrl }: SharedView): Promise<Peaks> {
  if (peaksUrl === undefined) throw new Error('the engine stored no peaks')
  return (await currentClient().open(peaksUrl)).json() as Promise<Peaks>
}
