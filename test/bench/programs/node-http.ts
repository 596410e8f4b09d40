// Serves the same responses with node:http. Prints `{ port }`.
// Usage: node-http DATA_DIRECTORY
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openReads } from './reads.ts'

const reads = await openReads(process.argv[2]!)
const pattern = /^\/api\/v1\/services\/([^/?]+)\/deploys\?limit=(\d+)$/

const server = createServer((request, response) => {
  if (request.url === '/healthz') {
    response.end('ok')
    return
  }
  const [, id, limit] = pattern.exec(request.url!)!
  if (!reads.isAllowed(request.headers.authorization ?? '')) {
    response.writeHead(401).end()
    return
  }
  response.setHeader('content-type', 'application/json')
  response.end(reads.deploys(id!, Number(limit)))
})

server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})
