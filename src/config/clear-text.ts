// Unencrypted listeners that other machines can reach: the daemon logs a warning for each on startup.
import { BlockList, isIP } from 'node:net'
import { type Config, parseListen } from './config.ts'

export interface ClearTextListener {
  listener: string
  /** The traffic that can be read or changed on its way, and the remedy. */
  warning: string
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

export function clearTextListeners(config: Config): ClearTextListener[] {
  const listeners: ClearTextListener[] = []
  const { name } = parseListen(config.listen)
  if (!isLoopback(name.replace(/^\[|\]$/g, ''))) {
    const warning =
      'the API is not encrypted there: passwords, tokens and env can be read in transit; keep it on ' +
      '127.0.0.1 and use --dashboard-host (https), or let only a TLS proxy reach it'
    listeners.push({ listener: `--listen ${config.listen}`, warning })
  }
  const bind = config['datastore-bind']
  if (!isLoopback(bind)) {
    const warning =
      'datastores are not encrypted there, and the user of a Postgres is its superuser: let only a private ' +
      'network reach these ports'
    listeners.push({ listener: `--datastore-bind ${bind}`, warning })
  }
  if (config.edge !== 'off' && config['base-domain'] !== 'localhost' && config['acme-email'] === '') {
    const warning = 'services are not encrypted there: without --acme-email there are no certificates'
    listeners.push({ listener: `--http-port ${config['http-port']}`, warning })
  }
  return listeners
}

/** A name other than `localhost` may resolve to any address. */
function isLoopback(host: string): boolean {
  const version = isIP(host)
  if (version === 0) return host === 'localhost'
  return loopback.check(host, version === 4 ? 'ipv4' : 'ipv6')
}
