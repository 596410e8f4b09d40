// The sockets of an instance, read from /proc of its first process, so no tool inside the image is needed.
// Needs the right to read that process (root). Without it the result is null, never zero.
import { readFile } from 'node:fs/promises'

interface Socket {
  localPort: number
  /** The kernel's format: hex, each four bytes in host order. */
  local: string
  remote: string
  state: string
}

/** 127.0.0.11. */
const dockerResolver = '0B00007F'
const listening = '0A'
const established = '01'

export interface Listener {
  port: number
  /** Nothing outside the instance reaches it. */
  isLoopback: boolean
}

/** The TCP ports that something in the instance listens on, ascending, without Docker's resolver. */
export async function findListeners(pid: number): Promise<Listener[] | null> {
  const sockets = await readSockets(pid)
  if (sockets === null) return null
  const listeningSockets = sockets.filter(
    ({ state, local }) => state === listening && local !== dockerResolver,
  )
  const isReached = (port: number) =>
    listeningSockets.some(({ localPort, local }) => localPort === port && !isLoopback(local))
  const ports = [...new Set(listeningSockets.map(({ localPort }) => localPort))].sort((a, b) => a - b)
  return ports.map((port) => ({ port, isLoopback: !isReached(port) }))
}

/** The number of open connections to that port of the instance, except those from `except` (IPv4). */
export async function countConnections(
  pid: number,
  port: number,
  except: string | null = null,
): Promise<number | null> {
  const sockets = await readSockets(pid)
  const isMatch = ({ state, localPort, local, remote }: Socket) =>
    state === established && localPort === port && !isLoopback(local) && !isFrom(except, remote)
  return sockets?.filter(isMatch).length ?? null
}

function isFrom(address: string | null, remote: string): boolean {
  if (address === null) return false
  const bytes = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))
  return remote.endsWith(bytes.reverse().join('').toUpperCase())
}

async function readSockets(pid: number): Promise<Socket[] | null> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((table) => readTable(`/proc/${pid}/net/${table}`)))
  return tables.every((table) => table === null) ? null : tables.flatMap((table) => table ?? [])
}

/** `sl local_address rem_address st …`, addresses as hex `IP:PORT`. */
async function readTable(path: string): Promise<Socket[] | null> {
  const text = await readFile(path, 'utf8').catch(() => null)
  if (text === null) return null
  const rows = text.split('\n').slice(1)
  return rows.flatMap((row) => {
    const [, local, remote = '', state] = row.trim().split(/\s+/)
    if (!local || !state) return []
    const localPort = Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16)
    return [{ localPort, local: hostOf(local), remote: hostOf(remote), state }]
  })
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':'))
}

/** 127.0.0.0/8, also as IPv6 has it, and ::1; the kernel writes addresses in host byte order. */
function isLoopback(address: string): boolean {
  const isMapped = address.startsWith('0000000000000000FFFF0000')
  if (address.length === 8 || isMapped) return address.endsWith('7F')
  return address === '00000000000000000000000001000000'
}
