// s3rver, an S3 server of other authors. Arguments: a folder, a bucket, and by how many seconds its clock is
// ahead. Prints the port when it serves. Ends with its standard input.
import type { Server } from 'node:http'
import { createRequire } from 'node:module'

const [directory, bucket, aheadSeconds] = process.argv.slice(2)
const now = Date.now
Date.now = () => now() + Number(aheadSeconds) * 1000
globalThis.Date = new Proxy(Date, {
  construct: (Real, parts: []) => (parts.length === 0 ? new Real(Date.now()) : new Real(...parts)),
})

// It has no types.
const load = createRequire(import.meta.url)
const S3rver = load('@20minutes/s3rver')
// It expects signed paths of a bucket without the slash at the end that the SDK and s3cmd send.
const signature = load('@20minutes/s3rver/lib/signature/v4')
const { getStringToSign } = signature
signature.getStringToSign = (request: { uri: string }, ...rest: unknown[]) =>
  getStringToSign({ ...request, uri: request.uri.replace(/^\/[^/]+$/, '$&/') }, ...rest)
const s3rver = new S3rver({
  directory,
  address: '127.0.0.1',
  port: 0,
  silent: true,
  configureBuckets: [{ name: bucket }],
})
const { port } = await s3rver.run()
// Node takes the header from the real clock.
const server: Server = s3rver.httpServer
server.prependListener('request', (_, response) => response.setHeader('date', new Date().toUTCString()))
console.log(port)
process.stdin.resume().on('end', () => process.exit())
