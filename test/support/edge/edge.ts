// An edge for a test's daemon, on unused ports.
// An edge outlives its daemon: a container is removed with the daemon's prefix, a host
// process by `endHostEdge`.
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { haproxyImage } from '../docker/server-images.ts'
import { installPackages } from '../system/apt.ts'
import { hasCommand } from '../system/command.ts'

/** Below the ephemeral port range, so that no outgoing connection can take the port. */
const ports = { least: 20_000, most: 32_000 }
/** Concurrent tests begin at different ports: a port is free again before its edge takes it. */
let nextPort = process.pid * 64

/** Options for `berthd`. `host` installs HAProxy if it is missing. */
export async function edgeArgs(kind: 'container' | 'host' = 'container'): Promise<string[]> {
  if (kind === 'host' && !hasCommand('haproxy')) await installPackages(['haproxy'])
  const servers = [await listen(), await listen()]
  const [http, https] = servers.map(({ port }) => String(port))
  await Promise.all(servers.map(({ server }) => new Promise((resolve) => server.close(resolve))))
  // All clients of a test share one address.
  const limit = ['--edge-requests-per-address', '1000000']
  const image = kind === 'container' ? ['--edge-image', await haproxyImage()] : []
  return ['--edge', kind, ...image, '--http-port', http!, '--https-port', https!, ...limit]
}

/** The ports in the result of `edgeArgs`. */
export function portOf(args: readonly string[], option: '--http-port' | '--https-port'): number {
  return Number(args[args.indexOf(option) + 1])
}

/** Kills every HAProxy, or one generation, that reads its configuration below that directory. */
export function endHostEdge(dataDir: string, generation: number | null = null): void {
  const configuration = join(dataDir, 'edge', 'haproxy.cfg')
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const found = argumentsOf(pid)
    const isMatch = generation === null || found.some((one) => one.includes(`/run/${generation}/master`))
    if (found.includes(configuration) && isMatch) process.kill(Number(pid), 'SIGKILL')
  }
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

async function listen(): Promise<{ server: Server; port: number }> {
  for (;;) {
    const port = ports.least + (nextPort++ % (ports.most - ports.least))
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '::', () => resolve(true))
    })
    if (isFree) return { server, port }
  }
}
