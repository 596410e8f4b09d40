// The options of `berthd`, in the order of its help: the purpose, the default and the accepted values.
import { existsSync, statfsSync } from 'node:fs'
import { availableParallelism, homedir, totalmem } from 'node:os'
import { join } from 'node:path'
import {
  address,
  addresses,
  cpus,
  cronSchedule,
  directories,
  dnsSettings,
  flag,
  hostNames,
  integer,
  listenAddress,
  loopbackAddress,
  network,
  oneOf,
  option,
  origins,
  orZero,
  portRange,
  ports,
  text,
} from './option-values.ts'

/** Otherwise a typo in the braces would only show when the image is pulled. */
const template = text(/^([\w.:/@-]|\{version\})+$/, 'an image; {version} may occur in it')
const hostName = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/
const day = 24 * 60 * 60
const mebibyte = 1024 * 1024

export const options = {
  'data-dir': option(
    'data directory (mode 0700)',
    join(homedir(), '.local/share/berth'),
    text(/^\//, 'an absolute path'),
  ),
  listen: option('address and port of the API', '127.0.0.1:7878', listenAddress),
  docker: option(
    'the Docker engine',
    'unix:///var/run/docker.sock',
    text(/^(unix:\/\/\/\S+|tcp:\/\/[^\s:/]+:\d+)$/, 'unix:///path or tcp://host:port'),
  ),
  prefix: option(
    'prefix of names and labels in Docker',
    'berth',
    text(/^[a-z][a-z0-9-]{0,30}$/, 'lower-case letters, digits and dashes, beginning with a letter'),
  ),
  subnet: option('private network of the instances', '10.201.0.0/16', network),
  'host-ports': option('TCP ports of this host that services may reach, separated by commas', '', ports),
  'base-domain': option(
    'parent domain of the default hosts of services',
    'localhost',
    text(hostName, 'a domain'),
  ),
  edge: option(
    'reverse proxy: container, host (the haproxy binary of this host) or off',
    'container',
    oneOf('container', 'host', 'off'),
  ),
  'http-port': option('edge port for http', '80', integer(1, 65_535)),
  'https-port': option('edge port for https', '443', integer(1, 65_535)),
  'edge-image': option(
    'image with HAProxy for --edge container; by default the official one',
    '',
    text(/^[\w.:/@-]*$/, 'an image'),
  ),
  'edge-connections-per-address': option(
    'open connections to the edge per address (IPv6: per /64); 0 for no limit',
    '1000',
    orZero(integer(1, 1_000_000)),
  ),
  'edge-requests-per-address': option(
    'requests per second to the edge per address, over 10 s; 0 for no limit',
    '500',
    orZero(integer(1, 1_000_000)),
  ),
  'acme-email': option(
    'e-mail address of the ACME account; without it no certificates are ordered',
    '',
    text(/^$|^[^\s@]+@[^\s@]+$/, 'an e-mail address'),
  ),
  'acme-directory': option(
    'ACME directory of the certificate authority',
    'https://acme-v02.api.letsencrypt.org/directory',
    text(/^https?:\/\/\S+$/, 'a URL'),
  ),
  'acme-dns': option(
    'DNS challenge for a wildcard certificate: hook:/PROGRAM or cloudflare',
    '',
    dnsSettings,
  ),
  'acme-dns-secret-file': option(
    'file with the API token for --acme-dns cloudflare',
    '',
    text(/^(\/|$)/, 'an absolute path'),
  ),
  'dashboard-host': option(
    "host name at which the edge serves the server's own pages and API, over https",
    '',
    text(/^[a-z0-9.-]*$/, 'a host name'),
  ),
  'trusted-proxy': option(
    'addresses or networks, separated by commas, whose X-Forwarded-* headers are trusted',
    '',
    addresses,
  ),
  'local-repositories': option(
    'directories, separated by commas, whose private repositories may be deployed by path',
    '',
    directories,
  ),
  'local-git-host': option(
    'names of git servers on this machine, separated by commas; other loopback hosts are refused',
    '',
    hostNames,
  ),
  'deny-private-git-hosts': flag('refuse repositories on hosts with addresses that are not public'),
  builder: option('builder of images: buildkit or classic', 'buildkit', oneOf('buildkit', 'classic')),
  'build-concurrency': option('builds at a time', '2', integer(1, 64)),
  'job-concurrency': option('job runs at a time', '8', integer(1, 1000)),
  'build-memory-limit': option(
    'MiB that all builds together may use; 0 for no limit; by default half of the memory',
    String(buildMemoryMb()),
    orZero(integer(16, 16 * 1024 * 1024)),
  ),
  'build-cpu-limit': option(
    'CPUs that all builds together may use; 0 for no limit; by default 7/8 of them',
    String(buildCpus()),
    orZero(cpus),
  ),
  'build-pids-limit': option(
    'processes that all builds together may have; 0 for no limit',
    '4096',
    orZero(integer(16, 1_000_000)),
  ),
  'build-cache-size': option(
    "MiB to which the engine's whole build cache is pruned; 0 never prunes",
    String(buildCacheMb()),
    orZero(integer(64, 1024 * 1024 * 1024)),
  ),
  'default-memory-limit': option('MiB per instance by default', '512', integer(16, 1024 * 1024)),
  'default-cpu-limit': option('CPUs per instance by default', '1', cpus),
  'pids-limit': option('processes per instance', '1024', integer(16, 1_000_000)),
  'keep-images': option('images retained per service', '5', integer(1, 1000)),
  'keep-deploys': option('deploys retained per service, with their logs', '200', integer(10, 100_000)),
  'keep-runs': option('job runs retained per service, with their logs', '1000', integer(10, 100_000)),
  'finished-log-size': option(
    'MiB of logs of deploys retained per service, and the same for those of job runs',
    '1024',
    integer(1, 1024 * 1024),
  ),
  'static-image': option(
    'image that serves /site of a static site on $PORT; by default nginx, configured by Berth',
    '',
    text(/^[\w.:/@-]*$/, 'an image'),
  ),
  'postgres-image': option(
    'image of Postgres datastores; {version} is replaced by the version',
    'postgres:{version}-alpine',
    template,
  ),
  'redis-image': option(
    'image of Redis datastores; {version} is replaced by the version',
    'redis:{version}-alpine',
    template,
  ),
  'datastore-bind': option('address of the host for ports of datastores', '127.0.0.1', address),
  'datastore-ports': option('ports of the host for datastores', '25000-25999', portRange),
  'backup-dir': option(
    'directory of backups; by default below the data directory',
    '',
    text(/^(\/|$)/, 'an absolute path'),
  ),
  'server-backup-dir': option(
    'directory of backups of the server; by default below the data directory',
    '',
    text(/^(\/|$)/, 'an absolute path'),
  ),
  'server-backup-place': option(
    'backup place of backups of the server; folder is --server-backup-dir',
    'folder',
    text(/^[a-z0-9-]+$/, 'the name of a backup place'),
  ),
  'server-backup-schedule': option(
    'cron schedule (UTC) of backups of the server; off by default',
    '',
    cronSchedule,
  ),
  'server-backup-with': option(
    'data in scheduled backups of the server: none, datastores, disks or all',
    'none',
    oneOf('none', 'datastores', 'disks', 'all'),
  ),
  'server-backup-keep': option('scheduled backups of the server that are kept', '7', integer(1, 1000)),
  'server-backup-days': option(
    'days that scheduled backups of the server are kept; 0 for no limit',
    '0',
    integer(0, 3650),
  ),
  'trash-days': option(
    'days that deleted datastores and disks can be restored; 0 deletes them immediately',
    '7',
    integer(0, 3650),
  ),
  'min-free-disk': option(
    'MiB that must stay free: below, no deploy starts, and large writes are canceled',
    '1024',
    integer(0, 1024 * 1024 * 1024),
  ),
  'runtime-log-size': option(
    'MiB of output retained per service, and the same for its access log',
    '64',
    integer(1, 1024 * 1024),
  ),
  'runtime-log-days': option('days that output and access logs are retained', '14', integer(1, 3650)),
  'audit-days': option('days that the audit log goes back', '365', integer(1, 3650)),
  'fetch-timeout': option('seconds a fetch may take', '600', integer(1, day)),
  'build-timeout': option(
    'seconds a build may take, not counting the wait for a slot',
    '3600',
    integer(1, day),
  ),
  'settle-time': option(
    'seconds a new version must run and stay healthy before it replaces the live one',
    '5',
    integer(0, 600),
  ),
  'start-timeout': option('seconds the start of instances may take', '120', integer(1, day)),
  inspect: option(
    'loopback address and port for viewers of statecharts (@statelyai/inspect); off by default',
    '',
    loopbackAddress,
  ),
  'inspect-origin': option(
    'origins, separated by commas, of pages on other hosts that may connect to --inspect',
    '',
    origins,
  ),
  'log-level': option('debug, info, warn or error', 'info', oneOf('debug', 'info', 'warn', 'error')),
  'log-format': option('json, text, or auto: text on a terminal', 'auto', oneOf('auto', 'json', 'text')),
} as const

/** Half of the memory: services keep the other half. */
function buildMemoryMb(): number {
  return Math.max(512, Math.floor(totalmem() / 2 / mebibyte))
}

/** All CPUs but an eighth, so the daemon and the edge always get CPU time. */
function buildCpus(): number {
  return Math.round(availableParallelism() * 87.5) / 100
}

/** 10 GiB, or a tenth of the disk if that is less. */
function buildCacheMb(): number {
  const { blocks, bsize } = statfsSync(existsSync('/var/lib/docker') ? '/var/lib/docker' : '/')
  return Math.max(64, Math.floor(Math.min(10 * 1024, (blocks * bsize) / 10 / mebibyte)))
}

interface RemovedOption {
  name: string
  /** The values that no longer exist; without it, the whole option. */
  value?: RegExp
  /** What to use, or what happens, instead. */
  instead: string
}

/** A start ignores them with a warning, because a server must not stay down after an update. */
export const removedOptions: RemovedOption[] = [
  {
    name: 'take-over-prefix',
    instead: 'start with a copy of the data directory (docs/moving.md), or choose another --prefix',
  },
  { name: 'acme-weekly-limit', instead: 'an order waits as long as the certificate authority asks' },
  {
    name: 'acme-dns',
    value: /^rfc2136:/,
    instead: 'use --acme-dns hook:/PROGRAM with nsupdate, as docs/certificates.md shows',
  },
]

export function isRemoved(name: string, value: string): boolean {
  return removedOptions.some((option) => option.name === name && (option.value?.test(value) ?? true))
}
