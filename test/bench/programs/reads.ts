// The reads of the bare servers: the same rows and the same token check, by the product's own code.
import { timingSafeEqual } from 'node:crypto'
import { openStorage } from '../../../storage/index.ts'

export interface Reads {
  isAllowed(authorization: string): boolean
  /** The newest deploys of a service as JSON. */
  deploys(serviceId: string, limit: number): string
}

export async function openReads(directory: string): Promise<Reads> {
  const storage = await openStorage(directory, { onPanic: (reason) => console.error(reason) })
  const token = Buffer.from(storage.serverToken)
  return {
    isAllowed(authorization) {
      const input = Buffer.from(authorization.slice('Bearer '.length))
      return input.length === token.length && timingSafeEqual(input, token)
    },
    deploys(serviceId, limit) {
      const { id } = storage.services.get(serviceId)!
      return JSON.stringify(storage.actors.list('deploy', id, limit))
    },
  }
}
