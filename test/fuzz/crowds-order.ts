/** Orders for a crowd. */

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
  /** That streams are about. */
  requestId: string
}
