// Connections of effects to instances and datastores, at their addresses in the private network.
import { connect, type Socket } from 'node:net'

interface Target {
  address: string
  port: number
  timeoutMs: number
}

/** Null if the connection succeeds, otherwise the reason; `timeout` is the reason for a silent peer. */
export function tryConnection(
  { address, port, timeoutMs }: Target,
  timeout: Error,
  signal: AbortSignal,
): Promise<Error | null> {
  return new Promise((resolve) => {
    // Passed to the socket, the signal would keep a listener of it even after the socket has ended.
    const socket = dial(address, port, timeoutMs)
    const settle = (error: Error | null) => {
      signal.removeEventListener('abort', giveUp)
      socket.destroy()
      resolve(error)
    }
    const giveUp = () => settle(new Error('given up'))
    signal.addEventListener('abort', giveUp)
    socket.once('connect', () => settle(null))
    socket.once('timeout', () => settle(timeout))
    socket.once('error', settle)
  })
}

/** The socket emits `timeout` after this time without traffic, also while it connects. */
export function dial(address: string, port: number, timeoutMs: number): Socket {
  return connect({ host: address, port, timeout: timeoutMs })
}
