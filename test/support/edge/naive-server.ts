// A server that does not parse trailers, like some applications: after the last chunk of a body it drops two
// bytes and treats the rest as another request. Its responses contain the path of their request.
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** Delays each later response to one read, so that another client's request may arrive in between. */
const pauseMs = 15

interface NaiveServer {
  port: number
  /** The paths of all parsed requests, by connection. */
  connections: string[][]
}

export async function startNaiveServer(t: TestContext): Promise<NaiveServer> {
  const connections: string[][] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const paths: string[] = []
    connections.push(paths)
    sockets.add(socket.setNoDelay().on('error', () => {}))
    socket.once('close', () => sockets.delete(socket))
    let text = ''
    let free = 0
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (let found = parse(text); found; found = parse(text)) {
        text = text.slice(found.length)
        paths.push(found.path)
        const response = `HTTP/1.1 200 OK\r\nContent-Length: ${found.path.length}\r\n\r\n${found.path}`
        const waitMs = Math.max(0, free - Date.now())
        free = Date.now() + waitMs + pauseMs
        if (waitMs === 0) socket.write(response)
        else setTimeout(() => socket.write(response), waitMs)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, connections }
}

/** The first complete request of the text, or null. */
function parse(text: string): { path: string; length: number } | null {
  const [head, path] = /^\S+ (\S+) HTTP\/1\.1\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(text) ?? []
  if (head === undefined || path === undefined) return null
  if (!/^transfer-encoding:/im.test(head)) {
    const length = head.length + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
    return text.length < length ? null : { path, length }
  }
  let at = head.length
  for (;;) {
    const [line, size = ''] = /^([0-9a-f]+)\r\n/i.exec(text.slice(at)) ?? []
    if (line === undefined) return null
    const bytes = Number.parseInt(size, 16)
    at += line.length + bytes + 2
    if (text.length < at) return null
    if (bytes === 0) return { path, length: at }
  }
}
