// Node's usual way to receive an upload: a pipeline into a file, synced before the response. Prints
// `{ port }`.
// Usage: upload-pipeline DIRECTORY
import { createWriteStream } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const directory = process.argv[2]!

const server = createServer((request, response) => {
  void receive(request).then(() => response.writeHead(202).end('kept'))
})

async function receive(request: IncomingMessage): Promise<void> {
  const draft = join(directory, 'draft')
  await pipeline(request, createWriteStream(draft))
  const file = await open(draft, 'r+')
  await file.sync()
  await file.close()
  await rename(draft, join(directory, 'archive'))
}

server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})
