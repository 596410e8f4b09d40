// Connections without a credential that send bodies to public routes slowly, cut them, or send them twice.
// Usage: strangers PORT CONNECTIONS
import { connect } from 'node:net'

const [port, count] = process.argv.slice(2).map(Number) as [number, number]
const paths = ['auth/login', 'auth/cli', 'hooks/deploy/x', 'hooks/github', 'auth/setup']
/** The JSON that costs most for its size. */
const body = '['.repeat(8192) + ']'.repeat(8192)
/** Each connection does something so often. */
const stepMs = 2000
const pieces = 4

function requestFor(index: number): string {
  const path = paths[index % paths.length]
  const head = [`POST /api/v1/${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json']
  return `${[...head, `Content-Length: ${body.length}`, '', ''].join('\r\n')}${body}`
}

function open(index: number): void {
  const socket = connect(port, '127.0.0.1')
  socket.resume()
  socket.on('error', () => undefined)
  socket.on('close', () => setTimeout(() => open(index), stepMs))
  const request = requestFor(index)
  const kinds = [
    (step: number) => {
      const size = Math.ceil(request.length / pieces)
      const at = (step % pieces) * size
      socket.write(request.slice(at, at + size))
    },
    (step: number) => {
      if (step % 2 === 0) socket.write(request.slice(0, -1))
      else socket.destroy()
    },
    () => socket.write(request + request),
  ]
  let step = 0
  const timer = setInterval(() => kinds[index % kinds.length]!(step++), stepMs)
  socket.on('close', () => clearInterval(timer))
}

for (let index = 0; index < count; index++) setTimeout(open, (index * stepMs) / count, index)
