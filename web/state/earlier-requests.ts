/** Searches the list of earlier requests, which the service returns in pages. */

import { useEffect, useState } from 'preact/hooks'
import { currentClient, messageOf } from './credential.ts'
import type { RequestListItem } from './open-request.ts'

/** How many rows `more` adds. */
const PAGE = 10
/** How many requests each call of a search gets. */
const SEARCH_PAGE = 100
/** How many more requests `more` searches. */
const SEARCHED_MAX = 1_000

export const promptsOf = ({ prompt, prompts = [prompt] }: RequestListItem): string =>
  prompts.join(', ')

/** Returns whether each word is in the prompts or the file's name, in any case. */
const matches = (request: RequestListItem, words: readonly string[]): boolean => {
  const text = `${promptsOf(request)} ${request.file_name}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

const START = { listed: [] as readonly RequestListItem[], cursor: '' as string | null }

export function useEarlierRequests(search: string) {
  const [{ listed, cursor }, setLoaded] = useState(START)
  const [limits, setLimits] = useState({ rows: PAGE, searched: SEARCHED_MAX })
  const [problem, setProblem] = useState('')
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const found = listed.filter((request) => matches(request, words))
  const needsMore =
    cursor !== null && found.length < limits.rows && listed.length < limits.searched && !problem
  useEffect(() => {
    if (!needsMore) return undefined
    let isStale = false
    const limit = words.length > 0 ? SEARCH_PAGE : PAGE
    currentClient()
      .list({ limit, cursor, model: 'audio/separate' })
      .then(
        ({ data, next_cursor: cursor }) => {
          if (isStale) return
          setLoaded((before) => ({ listed: [...before.listed, ...data], cursor }))
        },
        (error: unknown) => setProblem(messageOf(error)),
      )
    return () => void (isStale = true)
  }, [needsMore, listed.length])
  return {
    rows: found.slice(0, limits.rows),
    searched: listed.length,
    isSearching: needsMore,
    /** Undefined if there are no more. */
    more:
      (cursor !== null || found.length > limits.rows) && !needsMore
        ? () => {
            setProblem('')
            setLimits({ rows: limits.rows + PAGE, searched: listed.length + SEARCHED_MAX })
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
