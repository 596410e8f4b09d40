// Connects to an instance or a datastore at its address in the private network. All effects use
// this function.
import { connect, type Socket } from 'node:net'

/** The socket emits `timeout` after this time without traffic, also while it connects. */
export function dial(address: string, port: number, timeoutMs: number): Socket {
  return connect({ host: address, port, timeout: timeoutMs })
}
