// The minimal uWebSockets.js server with the API's responses. Prints `{ port }`.
// Usage: raw-uws DATA_DIRECTORY
import uws from 'uWebSockets.js'
import { openReads } from './reads.ts'

const reads = await openReads(process.argv[2]!)
const app = uws.App()

app.get('/healthz', (res) => {
  res.end('ok')
})

app.get('/api/v1/services/:id/deploys', (res, req) => {
  if (!reads.isAllowed(req.getHeader('authorization'))) {
    res.writeStatus('401 Unauthorized').end()
    return
  }
  const body = reads.deploys(req.getParameter(0)!, Number(req.getQuery('limit')))
  res.writeHeader('content-type', 'application/json').end(body)
})

app.listen('127.0.0.1', 0, (socket) => {
  console.log(JSON.stringify({ port: uws.us_socket_local_port(socket as uws.us_listen_socket) }))
})
