// Connects to an instance or a datastore at its address in the private network. Nothing else in the effects
// does, so how they are reached is decided here.
import { connect, type Socket } from 'node:net'

/** The socket emits `timeout` after this time without traffic, also while it connects. */
export function dial(address: string, port: number, timeoutMs: number): Socket {
  return connect({ host: address, port, timeout: timeoutMs })
}
