import { useState } from 'preact/hooks'
import type { ShareList } from '../../../clients/typescript/client.ts'
import { currentClient, messageOf } from '../../state/credential.ts'
import type { PlayableResult } from '../../state/loaded-media.ts'
import { addressOf } from '../../state/shared-result.ts'
import { ConfirmedButton } from '../confirmed-button.tsx'
import { CopyButton } from '../copy-button.tsx'
import { Time } from '../time.tsx'
import { Problem } from '../problem.tsx'

const TIMES = { 'an hour': 3_600, 'a day': 86_400, 'a week': 604_800 } as const

type Length = keyof typeof TIMES

interface ShareProps {
  /** Id of the request. */
  id: string
  result: PlayableResult
}

/** Makes addresses that play a result without a key, and revokes them. */
export function Share({ id, result }: ShareProps) {
  const [time, setTime] = useState<Length>('a day')
  const [made, setMade] = useState<{ shareId: string; address: string } | null>(null)
  const [shares, setShares] = useState<ShareList['data']>([])
  const [problem, setProblem] = useState('')
  const fail = (error: unknown) => setProblem(messageOf(error))
  const list = async () => {
    const { data } = await currentClient().shares()
    setShares(data.filter(({ request_id: requestId }) => requestId === id))
  }
  const make = async () => {
    setProblem('')
    const share = await currentClient().share(id, { expiresInSeconds: TIMES[time] })
    setMade({ shareId: share.share_id, address: addressOf(share, result) })
    await list()
  }
  const revoke = async (shareId: string) => {
    await currentClient().revokeShare(shareId)
    if (made?.shareId === shareId) setMade(null)
    await list()
    return null
  }
  return (
    <details
      class="share"
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) list().catch(fail)
      }}
    >
      <summary>Share</summary>
      <p class="quiet">
        Whoever has the address plays this result and saves its files, without a key. They see the
        sounds and the name of the file, not its source.
      </p>
      <div class="choice">
        <label>
          For{' '}
          <select
            value={time}
            onChange={({ currentTarget }) => setTime(currentTarget.value as Length)}
          >
            {Object.keys(TIMES).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button onClick={() => void make().catch(fail)}>Make an address</button>
      </div>
      {made && <Address address={made.address} />}
      <Problem>{problem}</Problem>
      <WorkingAddresses shares={shares} revoke={revoke} />
    </details>
  )
}

/** A new address, which the service does not know any more. */
function Address({ address }: { address: string }) {
  return (
    <div class="choice">
      <label class="address">
        Address, shown only now{' '}
        <input readOnly value={address} onFocus={({ currentTarget }) => currentTarget.select()} />
      </label>
      <CopyButton text={address} />
    </div>
  )
}

interface WorkingAddressesProps {
  shares: ShareList['data']
  revoke: (shareId: string) => Promise<null>
}

/** The addresses that still play the result, each with a button to revoke it. */
function WorkingAddresses({ shares, revoke }: WorkingAddressesProps) {
  return (
    <ul>
      {shares.map(({ share_id: shareId, expires_at: end }) => (
        <li key={shareId}>
          An address works until <Time at={end} />{' '}
          <ConfirmedButton
            action="Revoke"
            target={`the address that works until ${end}`}
            act={() => revoke(shareId)}
          />
        </li>
      ))}
    </ul>
  )
}
