import * as grpc from '@grpc/grpc-js'
import { service as healthService } from 'grpc-health-check'

/**
 * Asks for the health of a server as a gRPC probe does.
 * @param address `host:port`
 * @param service '' for the whole server
 */
export function healthOf(address: string, service = ''): Promise<string> {
  const Client = grpc.makeGenericClientConstructor(healthService, 'Health')
  const client = new Client(address, grpc.credentials.createInsecure())
  return new Promise((resolve, reject) => {
    client.check!({ service }, (error: Error | null, answer: { status: string }) => {
      client.close()
      if (error) reject(error)
      else resolve(answer.status)
    })
  })
}
