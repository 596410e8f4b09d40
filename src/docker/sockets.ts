// The sockets of an instance, read from /proc of its first process: no tool inside the image is needed.
// Mind: needs the right to read that process (root). Without it nobody knows, and the answer is null, never
// zero.
import { readFile } from 'node:fs/promises'

interface Socket {
  localPort: number
  /** As the kernel writes it: hex, each four bytes in host order. */
  remote: string
  state: string
}

const listening = '0A'
const established = '01'

/** TCP ports that something in the instance listens on, other than on its loopback alone. */
export async function listeningPorts(pid: number): Promise<number[] | null> {
  const sockets = await readSockets(pid)
  const ports = sockets?.filter(({ state }) => state === listening).map(({ localPort }) => localPort)
  return ports ? [...new Set(ports)].sort((a, b) => a - b) : null
}

/** How many connections are open to that port of the instance; those from `except` (IPv4) do not count. */
export async function countConnections(
  pid: number,
  port: number,
  except: string | null = null,
): Promise<number | null> {
  const sockets = await readSockets(pid)
  const isMeant = ({ state, localPort, remote }: Socket) =>
    state === established && localPort === port && !isFrom(except, remote)
  return sockets?.filter(isMeant).length ?? null
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
    if (!local || !state || isLoopback(local)) return []
    const localPort = Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16)
    return [{ localPort, remote: remote.slice(0, remote.lastIndexOf(':')), state }]
  })
}

/** 127.0.0.0/8 and Docker's resolver in it; the kernel writes addresses in host byte order. */
function isLoopback(local: string): boolean {
  const address = local.slice(0, local.lastIndexOf(':'))
  return address.length === 8 ? address.endsWith('7F') : address === '00000000000000000000000001000000'
}
