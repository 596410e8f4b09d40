// Follows one log with many readers and prints the delays of lines. Uses plain sockets, because parsing in a
// thousand clients would dominate the measurement.
// Usage: log-followers PORT PATH TOKEN READERS STALLED SECONDS SERVER_PID
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds } from '../process-usage.ts'
import { openArrivals } from './log-arrivals.ts'

export interface Followed {
  p50Ms: number
  p99Ms: number
  worstMs: number
  serverCpuShare: number
  ownCpuShare: number
  /** The number of stalled readers that the server has dropped. */
  dropped: number
}

const [port, path, token, ...counts] = process.argv.slice(2)
const [readers, stalled, seconds, serverPid] = counts.map(Number) as [number, number, number, number]
const arrivals = openArrivals(readers)
/** Above any line's number, so that only new lines are sent. */
const newest = 'Last-Event-ID: 999999999\r\n'
let dropped = 0

const stalledSockets = await Promise.all(Array.from({ length: stalled }, () => stall()))
await Promise.all(Array.from({ length: readers }, (_, reader) => read(reader)))
await sleep(2000)
const [server, own, from] = [cpuSeconds(serverPid), process.cpuUsage(), now()]
await sleep(seconds * 1000)
const to = now()
const used = process.cpuUsage(own)
const serverCpuShare = (cpuSeconds(serverPid) - server) / seconds
// An unread socket does not notice its end.
for (const socket of stalledSockets) socket.resume()
// The last lines are still in transit.
await sleep(1000)
const result: Followed = {
  ...arrivals.ages(from, to),
  serverCpuShare,
  ownCpuShare: (used.user + used.system) / 1e6 / seconds,
  dropped,
}
console.log(JSON.stringify(result))
process.exit(0)

async function read(reader: number): Promise<void> {
  const socket = await ask(newest)
  socket.on('data', (chunk) => arrivals.take(reader, chunk, now()))
  socket.on('close', () => {
    throw new Error(`reader ${reader} was dropped`)
  })
}

/** Requests the whole log and reads nothing. */
async function stall(): Promise<Socket> {
  const socket = await ask('')
  // The server may reset the connection.
  socket.on('error', () => undefined)
  socket.on('close', () => dropped++)
  return socket
}

async function ask(header: string): Promise<Socket> {
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n${header}\r\n`)
  return socket
}

/** Milliseconds since 1970, like the server's timestamps. */
function now(): number {
  return performance.timeOrigin + performance.now()
}
