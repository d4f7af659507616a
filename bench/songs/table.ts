/** Formats the results of models on songs as a table. */

/** Result of one model on one song. */
export interface SongFigures {
  song: string
  model: string
  /** SDR in dB of each prompt that the model answers. */
  sdrDb: Record<string, number>
  /** Wall time in seconds per second of the song, for all stems at once; then CPU time. */
  realTime: number
  cpuTime: number
  /** Peak of the process, which loads only this model. */
  peakMib: number
  commit: string
  machine: string
}

/** Returns a Markdown table with a row for each model that separated one song. */
export function tableOf(figures: readonly SongFigures[]): string {
  const stems = [...new Set(figures.flatMap(({ sdrDb }) => Object.keys(sdrDb)))]
  const head = [figures[0]!.song, ...stems, 'RTF', 'CPU time', 'memory']
  const rows = figures.map(({ model, sdrDb, realTime, cpuTime, peakMib }) => [
    model,
    ...stems.map((stem) => sdrDb[stem]?.toFixed(1) ?? '–'),
    realTime.toFixed(2),
    cpuTime.toFixed(2),
    `${peakMib} MiB`,
  ])
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
