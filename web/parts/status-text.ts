/** Describes statuses in words. */

import type { Status } from '../../clients/typescript/client.ts'
import { readAs } from '../../shared/finding-text.ts'
import { readPrompt } from '../../shared/prompts/read-prompt.ts'

const STATES = {
  IN_QUEUE: 'in the queue',
  IN_PROGRESS: 'separating',
  COMPLETED: 'completed',
  FAILED: 'failed',
} as const

/**
 * The text that a screen reader says when it changes.
 * @param current null if there is none yet
 */
export function stateOf(current: Status | null): string {
  if (current?.error?.code === 'CANCELED') return 'Canceled. Nothing was charged.'
  return current ? STATES[current.status] : 'connecting'
}

/** For example `45 %`, for the title of the page, of which a tab shows little. */
export function titleOf(current: Status | null): string {
  if (current?.status !== 'IN_PROGRESS') return stateOf(current)
  return `${Math.round(100 * (current.progress ?? 0))} %`
}

/** For example `45 %, about 20 s left`, which changes constantly. */
export function detailOf(current: Status | null): string {
  if (!current || current.status === 'COMPLETED' || current.status === 'FAILED') return ''
  const { status, progress = 0, queue_position: position, estimated_seconds_left: left } = current
  const place = position === undefined ? [] : [`number ${position}`]
  const parts = status === 'IN_QUEUE' ? place : [`${Math.round(100 * progress)} %`]
  return [...parts, ...(left === undefined ? [] : [leftOf(left)])].join(', ')
}

/**
 * Both, for example `separating, 45 %, about 20 s left`; for a completed request also which sounds
 * were not found with certainty.
 */
export const statusText = (current: Status | null): string => {
  const missed = current?.findings?.filter(({ state }) => state !== 'found') ?? []
  const messages = missed.map(({ message }) => message)
  const state = [stateOf(current), detailOf(current)].filter(Boolean).join(', ')
  return messages.length === 0 ? state : `${state}. ${messages.join(' ')}`
}

/** For example `about 20 s left`. */
export const leftOf = (seconds: number): string =>
  `about ${seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`} left`

/**
 * Explains how prompts were read that are not simply the name of a sound, unless a finding says so.
 */
export const readingsOf = (
  prompts: readonly string[],
  findings: Status['findings'] = [],
): string[] =>
  prompts.flatMap((prompt) => {
    const { asked, isPlain } = readPrompt(prompt)
    const isSaid = isPlain || findings.some((finding) => finding.prompt === prompt)
    return isSaid ? [] : [`“${prompt}” was read as: ${readAs(asked).toLowerCase()}.`]
  })
