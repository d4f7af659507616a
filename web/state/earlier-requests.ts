/** Searches the list of earlier requests, which the service returns in pages. */

import { useEffect, useState } from 'preact/hooks'
import { currentClient, messageOf } from './credential.ts'
import type { RequestListItem } from './open-request.ts'

/** How many rows one press adds. */
const PAGE = 10
/** How many requests one call of a search returns. */
const SEARCHED = 100
/** How many requests one press searches. */
const SEARCHED_MAX = 1_000

export const promptsOf = ({ prompt, prompts = [prompt] }: RequestListItem): string =>
  prompts.join(', ')

/** Returns whether each word is in the prompts or the file's name, in any case. */
const fits = (request: RequestListItem, words: readonly string[]): boolean => {
  const text = `${promptsOf(request)} ${request.file_name}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

const START = { listed: [] as readonly RequestListItem[], cursor: '' as string | null }

export function useEarlierRequests(search: string) {
  const [{ listed, cursor }, setLoaded] = useState(START)
  const [limits, setLimits] = useState({ rows: PAGE, looked: SEARCHED_MAX })
  const [problem, setProblem] = useState('')
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const fitting = listed.filter((request) => fits(request, words))
  const needsMore =
    cursor !== null && fitting.length < limits.rows && listed.length < limits.looked && !problem
  useEffect(() => {
    if (!needsMore) return undefined
    let isLeft = false
    const limit = words.length > 0 ? SEARCHED : PAGE
    currentClient()
      .list({ limit, cursor, model: 'audio/separate' })
      .then(
        (page) => {
          if (isLeft) return
          const { data, next_cursor: cursor } = page
          setLoaded((before) => ({ listed: [...before.listed, ...data], cursor }))
        },
        (error: unknown) => setProblem(messageOf(error)),
      )
    return () => void (isLeft = true)
  }, [needsMore, listed.length])
  return {
    rows: fitting.slice(0, limits.rows),
    looked: listed.length,
    isLooking: needsMore,
    /** Undefined: there is nothing more. */
    more:
      (cursor !== null || fitting.length > limits.rows) && !needsMore
        ? () => {
            setProblem('')
            setLimits({ rows: limits.rows + PAGE, looked: listed.length + SEARCHED_MAX })
          }
        : undefined,
    rename: (id: string, name: string) =>
      setLoaded((before) => ({
        ...before,
        listed: before.listed.map((request) =>
          request.request_id === id ? { ...request, file_name: name } : request,
        ),
      })),
    forget: (id: string) =>
      setLoaded((before) => ({
        ...before,
        listed: before.listed.filter(({ request_id: other }) => other !== id),
      })),
    problem,
    setProblem,
  }
}
