/** What a crowd is asked to do. */

export const CROWDS = [
  'nobody',
  'idle connections',
  'slow heads',
  'slow bodies',
  'huge heads',
  'streams that nobody reads',
  'gRPC streams without a window',
] as const

export interface CrowdOrder {
  crowd: (typeof CROWDS)[number]
  clients: number
  port: number
  grpcPort: number
  /** Request whose status the streams follow. */
  requestId: string
}
