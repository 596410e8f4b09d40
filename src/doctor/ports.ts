// Who has the public ports.
import { readFile } from 'node:fs/promises'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'
import { holderOf } from './process.ts'

const listening = '0A'
/** What serves the public ports when they are the edge's. */
const ownHolders = /^(haproxy|docker-proxy|rootlessport|dockerd)\b/

export async function checkPorts({ config }: Examined): Promise<Finding[] | string> {
  if (config.edge === 'off') return 'the server has no public ports (--edge off)'
  const sockets = (await Promise.all(['tcp', 'tcp6'].map((name) => listeners(`/proc/net/${name}`)))).flat()
  const looks = [config['http-port'], config['https-port']].map(async (port) => {
    const held = sockets.filter((socket) => socket.port === port)
    const holders = await Promise.all(held.map(({ inode }) => holderOf(inode)))
    const foreign = holders.find((holder) => holder !== null && !ownHolders.test(holder))
    if (foreign) return finding('port_taken', { port, holder: foreign, option: optionOf(config, port) })
    return `${port}: ${holders.find((holder) => holder !== null) ?? (held.length > 0 ? 'in use' : 'free')}`
  })
  const results = await Promise.all(looks)
  const found = results.filter((result) => typeof result !== 'string')
  return found.length > 0 ? found : results.join(', ')
}

function optionOf(config: Examined['config'], port: number): string {
  return config['http-port'] === port ? '--http-port' : '--https-port'
}

export async function listeners(path: string): Promise<{ port: number; inode: string }[]> {
  const rows = (await readFile(path, 'latin1').catch(() => '')).trim().split('\n').slice(1)
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state]) => state === listening)
    .map(([, address = '', , , , , , , , inode = '']) => ({
      port: Number.parseInt(address.split(':')[1] ?? '', 16),
      inode,
    }))
}
