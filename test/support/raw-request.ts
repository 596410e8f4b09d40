// Bytes to a port, and what comes back.
import { connect } from 'node:net'

/** Sends bytes as they are and returns what came back until the server closed or fell silent. */
export function raw(port: number, text: string): Promise<{ text: string; isClosed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    const finish = (isClosed: boolean) => {
      socket.destroy()
      resolve({ text: received, isClosed })
    }
    // Before its first byte the server may only be slow.
    socket.setTimeout(30_000, () => finish(false))
    socket.on('data', (chunk) => {
      received += chunk
      socket.setTimeout(500)
    })
    socket.on('error', () => finish(true))
    socket.on('close', () => finish(true))
    socket.write(text)
  })
}
