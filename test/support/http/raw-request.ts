// Sends raw bytes to a port and returns the response.
import { connect } from 'node:net'

/** Returns what arrives until the server closes the connection or falls silent. */
export function raw(port: number, text: string): Promise<{ text: string; isClosed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    const finish = (isClosed: boolean) => {
      socket.destroy()
      resolve({ text: received, isClosed })
    }
    // Before the first byte the server may just be slow.
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
