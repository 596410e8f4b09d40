// An HTTP/2 request over TLS through a test's edge.
import { connect as connectHttp2, constants } from 'node:http2'
import type { RunningEdge } from './running-edge.ts'

export function requestHttp2(
  edge: RunningEdge,
  path: string,
  authority = 'a.test',
  headers: Record<string, string> = {},
) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>(
    (resolve, reject) => {
      const session = connectHttp2(`https://127.0.0.1:${edge.frame.httpsPort}`, { rejectUnauthorized: false })
      session.once('error', reject)
      const stream = session.request({ ':path': path, ':authority': authority, ...headers })
      let status = 0
      let received = {}
      let body = ''
      stream.once('response', (found) => {
        status = Number(found[constants.HTTP2_HEADER_STATUS])
        received = found
      })
      stream.on('data', (chunk) => (body += String(chunk)))
      stream.once('end', () => {
        session.close()
        resolve({ status, headers: received, body })
      })
      stream.once('error', reject).end()
    },
  )
}
