// Follows one log many times over, and says how old each line was when each follower had it whole.
// Plain sockets, because a thousand clients that parse what they get would measure themselves.
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
  /** Of the stalled ones, those that the server has given up on. */
  dropped: number
}

const [port, path, token, ...counts] = process.argv.slice(2)
const [readers, stalled, seconds, serverPid] = counts.map(Number) as [number, number, number, number]
const arrivals = openArrivals(readers)
/** Above any line's number: from now on. */
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
// A socket that is not read does not hear of its end.
for (const socket of stalledSockets) socket.resume()
// What was appended last is still on its way.
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

/** Asks for all of the log and reads nothing of it. */
async function stall(): Promise<Socket> {
  const socket = await ask('')
  // A reset is the server's good right.
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

/** Milliseconds since 1970, as the server stamps its lines. */
function now(): number {
  return performance.timeOrigin + performance.now()
}
