/** What models make of songs, as a table for people. */

/** What one model makes of one song. */
export interface SongFigures {
  song: string
  model: string
  /** SDR in dB by prompt, of those that the model answers. */
  sdrDb: Record<string, number>
  /** Seconds of a clock, and of all processors, for a second of the song: all stems at once. */
  realTime: number
  processorTime: number
  /** Of the process with this model alone. */
  peakMib: number
  commit: string
  machine: string
}

/** In Markdown, a row for each model that separated one song. */
export function tableOf(figures: readonly SongFigures[]): string {
  const stems = [...new Set(figures.flatMap(({ sdrDb }) => Object.keys(sdrDb)))]
  const head = [figures[0]!.song, ...stems, 'RTF', 'processor time', 'memory']
  const rows = figures.map(({ model, sdrDb, realTime, processorTime, peakMib }) => [
    model,
    ...stems.map((stem) => sdrDb[stem]?.toFixed(1) ?? '–'),
    realTime.toFixed(2),
    processorTime.toFixed(2),
    `${peakMib} MiB`,
  ])
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
