import { useEffect, useState } from 'preact/hooks'
import type { components } from '../../../clients/typescript/api.ts'
import type { Admin } from '../../state/admin.ts'

export type Usage = components['schemas']['AdminUsage']

const EVERY_MS = 30_000

/** What accounts used and stored; null until it is read. */
export function useUsage(admin: Admin): Usage | null {
  const [usage, setUsage] = useState<Usage | null>(null)
  useEffect(() => {
    const read = () =>
      admin
        .read<Usage>('usage')
        .then(setUsage)
        .catch(() => undefined) // the state, which is read more often, says what is wrong
    void read()
    const timer = setInterval(() => void read(), EVERY_MS)
    return () => clearInterval(timer)
  }, [admin])
  return usage
}
