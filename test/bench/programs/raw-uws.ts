// The minimal uWebSockets.js server with the API's responses: the same rows and the same token check, by the
// product's own code. Prints `{ port }`.
// Usage: raw-uws DATA_DIRECTORY

import uws from 'uWebSockets.js'
import { timingSafeEqual } from 'node:crypto'
import { openStorage } from '../../../storage/index.ts'

const storage = await openStorage(process.argv[2]!, { onPanic: (reason) => console.error(reason) })
const token = Buffer.from(storage.serverToken)
const app = uws.App()

app.get('/healthz', (res) => {
  res.end('ok')
})

app.get('/api/v1/services/:id/deploys', (res, req) => {
  const input = Buffer.from(req.getHeader('authorization').slice('Bearer '.length))
  if (input.length !== token.length || !timingSafeEqual(input, token)) {
    res.writeStatus('401 Unauthorized').end()
    return
  }
  const { id } = storage.services.get(req.getParameter(0)!)!
  const body = JSON.stringify(storage.actors.list('deploy', id, Number(req.getQuery('limit'))))
  res.writeHeader('content-type', 'application/json').end(body)
})

app.listen('127.0.0.1', 0, (socket) => {
  console.log(JSON.stringify({ port: uws.us_socket_local_port(socket as uws.us_listen_socket) }))
})
