export type Tier = 'quick' | 'rest' | 'all' | 'nightly'
export interface Shard {
  index: number
  count: number
}
export function tierOf(file: string): 'quick' | 'rest' | 'nightly'
export function runsOnPostgres(file: string): boolean
export function shardOf(text: string): Shard
export function inShard(files: readonly string[], shard: Shard): string[]
export function chooseFiles(
  all: readonly string[],
  tier: Tier | null,
  parts?: readonly string[],
): { files: string[]; onPostgres: string[] }
