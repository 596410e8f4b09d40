// The options of the daemon: from a flag, else a variable, else the default; and a bad one is named.
import assert from 'node:assert/strict'
import { availableParallelism, totalmem } from 'node:os'
import { test } from 'node:test'
import { type Config, helpText, readConfig, removedOptionWarnings } from '../../src/config/config.ts'

/** A value of each option that is not its default, as text and as the daemon gets it. */
const values: { [Name in keyof Config]: [text: string, value: Config[Name]] } = {
  'data-dir': ['/srv/berth', '/srv/berth'],
  listen: ['0.0.0.0:8080', '0.0.0.0:8080'],
  docker: ['tcp://10.0.0.1:2375', 'tcp://10.0.0.1:2375'],
  prefix: ['try-1', 'try-1'],
  subnet: ['10.77.0.0/16', '10.77.0.0/16'],
  'host-ports': ['5432, 6379', [5432, 6379]],
  'base-domain': ['apps.example.com', 'apps.example.com'],
  edge: ['host', 'host'],
  'http-port': ['8080', 8080],
  'https-port': ['8443', 8443],
  'edge-image': ['haproxy:3.0', 'haproxy:3.0'],
  'edge-connections-per-address': ['20', 20],
  'edge-requests-per-address': ['0', 0],
  'acme-email': ['ada@example.com', 'ada@example.com'],
  'acme-directory': ['https://ca.example.com/directory', 'https://ca.example.com/directory'],
  'acme-dns': ['hook:/usr/local/bin/zone', { kind: 'hook', path: '/usr/local/bin/zone' }],
  'acme-dns-secret-file': ['/etc/berth/zone.token', '/etc/berth/zone.token'],
  'dashboard-host': ['berth.example.com', 'berth.example.com'],
  'trusted-proxy': ['10.0.0.5, fd00::/8', ['10.0.0.5', 'fd00::/8']],
  'local-repositories': ['/srv/git, /home/ada/git', ['/srv/git', '/home/ada/git']],
  'local-git-host': ['git.lan, LOCALHOST,::1', ['git.lan', 'localhost', '::1']],
  'deny-private-git-hosts': ['yes', true],
  builder: ['classic', 'classic'],
  'build-concurrency': ['5', 5],
  'job-concurrency': ['20', 20],
  'build-memory-limit': ['2048', 2048],
  'build-cpu-limit': ['0.5', 0.5],
  'build-pids-limit': ['64', 64],
  'build-cache-size': ['5000', 5000],
  'default-memory-limit': ['256', 256],
  'default-cpu-limit': ['0.5', 0.5],
  'pids-limit': ['64', 64],
  'keep-images': ['1', 1],
  'static-image': ['nginx-for-sites:1', 'nginx-for-sites:1'],
  'postgres-image': ['pg:{version}', 'pg:{version}'],
  'redis-image': ['valkey:{version}', 'valkey:{version}'],
  'datastore-bind': ['10.0.0.9', '10.0.0.9'],
  'datastore-ports': ['5432', { first: 5432, last: 5432 }],
  'backup-dir': ['/mnt/backups', '/mnt/backups'],
  'trash-days': ['0', 0],
  'min-free-disk': ['0', 0],
  'runtime-log-size': ['8', 8],
  'runtime-log-days': ['3', 3],
  'settle-time': ['0', 0],
  'fetch-timeout': ['30', 30],
  'build-timeout': ['31', 31],
  'start-timeout': ['32', 32],
  'log-level': ['debug', 'debug'],
  'log-format': ['text', 'text'],
}
const names = Object.keys(values) as (keyof Config)[]
const variableOf = (name: string) => `BERTH_${name.toUpperCase().replaceAll('-', '_')}`

/** But for the two that the host decides. */
const defaults = {
  listen: '127.0.0.1:7878',
  docker: 'unix:///var/run/docker.sock',
  prefix: 'berth',
  subnet: '10.201.0.0/16',
  'host-ports': [],
  'base-domain': 'localhost',
  edge: 'container',
  'http-port': 80,
  'https-port': 443,
  'edge-image': '',
  'edge-connections-per-address': 1000,
  'edge-requests-per-address': 500,
  'acme-email': '',
  'acme-directory': 'https://acme-v02.api.letsencrypt.org/directory',
  'acme-dns': '' as const,
  'acme-dns-secret-file': '',
  'dashboard-host': '',
  'trusted-proxy': [],
  'local-repositories': [],
  'local-git-host': [],
  'deny-private-git-hosts': false,
  builder: 'buildkit',
  'build-concurrency': 2,
  'job-concurrency': 8,
  'build-memory-limit': Math.max(512, Math.floor(totalmem() / 2 / 1024 / 1024)),
  'build-cpu-limit': Math.round(availableParallelism() * 87.5) / 100,
  'build-pids-limit': 4096,
  'default-memory-limit': 512,
  'default-cpu-limit': 1,
  'pids-limit': 1024,
  'keep-images': 5,
  'static-image': '',
  'postgres-image': 'postgres:{version}-alpine',
  'redis-image': 'redis:{version}-alpine',
  'datastore-bind': '127.0.0.1',
  'datastore-ports': { first: 25_000, last: 25_999 },
  'backup-dir': '',
  'trash-days': 7,
  'min-free-disk': 1024,
  'runtime-log-size': 64,
  'runtime-log-days': 14,
  'settle-time': 5,
  'fetch-timeout': 600,
  'build-timeout': 3600,
  'start-timeout': 120,
  'log-level': 'info',
  'log-format': 'auto',
}

test('without flags and variables every option has its default', () => {
  const { 'data-dir': dataDir, 'build-cache-size': cacheMb, ...rest } = readConfig([], {})
  assert.match(dataDir, /^\//)
  assert.ok(cacheMb >= 64 && cacheMb <= 10 * 1024, String(cacheMb))
  assert.deepEqual(rest, defaults)
})

for (const name of names) {
  const [text, value] = values[name]

  test(`--${name} comes from its flag, else from ${variableOf(name)}, and changes nothing else`, () => {
    const without = readConfig([], {})
    const variables = { [variableOf(name)]: String(without[name]) }
    const expected = { ...without, [name]: value }
    assert.deepEqual(readConfig([], { [variableOf(name)]: text }), expected)
    assert.deepEqual(readConfig([`--${name}=${text}`], {}), expected)
    assert.deepEqual(readConfig([`--${name}`, text], variables), expected)
  })
}

test('DOCKER_HOST selects the engine unless an option of Berth does', () => {
  const DOCKER_HOST = 'tcp://10.0.0.2:2375'
  assert.equal(readConfig([], { DOCKER_HOST }).docker, DOCKER_HOST)
  assert.equal(readConfig([], { DOCKER_HOST, BERTH_DOCKER: 'unix:///a' }).docker, 'unix:///a')
  const empty = { DOCKER_HOST: '', BERTH_DOCKER: '' }
  assert.equal(readConfig([], empty).docker, 'unix:///var/run/docker.sock')
})

const bad: [name: keyof Config, text: string, says: string][] = [
  ['data-dir', 'relative/path', 'is not an absolute path'],
  ['listen', '7878', 'is not HOST:PORT (an IPv6 address in brackets)'],
  ['listen', '::1:7878', 'is not HOST:PORT (an IPv6 address in brackets)'],
  ['listen', 'localhost:http', 'is not HOST:PORT (an IPv6 address in brackets)'],
  ['docker', '/var/run/docker.sock', 'is not unix:///path or tcp://host:port'],
  ['docker', 'tcp://1.2.3.4', 'is not unix:///path or tcp://host:port'],
  ['prefix', 'Berth', 'is not lower-case letters, digits and dashes, beginning with a letter'],
  ['prefix', '-berth', 'is not lower-case letters, digits and dashes, beginning with a letter'],
  ['subnet', '10.201.0.0/24', 'is not a /16 network'],
  ['base-domain', 'http://example.com', 'is not a domain'],
  ['dashboard-host', 'a b', 'is not a host name'],
  ['builder', 'buildx', 'is not one of buildkit, classic'],
  ['build-memory-limit', '15', 'is not a whole number from 16 to 16777216, or 0'],
  ['build-memory-limit', '512m', 'is not a whole number from 16 to 16777216, or 0'],
  ['build-cpu-limit', '-1', 'is not a number from 0.01 to 512, or 0'],
  ['build-cache-size', '1', 'is not a whole number from 64 to 1073741824, or 0'],
  ['build-pids-limit', '15', 'is not a whole number from 16 to 1000000, or 0'],
  ['build-concurrency', '0', 'is not a whole number from 1 to 64'],
  ['build-concurrency', '65', 'is not a whole number from 1 to 64'],
  ['build-concurrency', '1.5', 'is not a whole number from 1 to 64'],
  ['build-concurrency', '0x2', 'is not a whole number from 1 to 64'],
  ['job-concurrency', '0', 'is not a whole number from 1 to 1000'],
  ['job-concurrency', '1001', 'is not a whole number from 1 to 1000'],
  ['default-memory-limit', '512m', 'is not a whole number from 16 to 1048576'],
  ['default-cpu-limit', '0', 'is not a number from 0.01 to 512'],
  ['default-cpu-limit', 'Infinity', 'is not a number from 0.01 to 512'],
  ['pids-limit', '15', 'is not a whole number from 16 to 1000000'],
  ['keep-images', '0', 'is not a whole number from 1 to 1000'],
  ['postgres-image', 'postgres:{versoin}', 'is not an image; {version} may occur in it'],
  ['redis-image', 'redis 7', 'is not an image; {version} may occur in it'],
  ['redis-image', 'redis:{version', 'is not an image; {version} may occur in it'],
  ['datastore-bind', 'localhost', 'is not an IP address'],
  ['datastore-bind', '127.0.0.1:5432', 'is not an IP address'],
  ['datastore-bind', '10.0.0.0/8', 'is not an IP address'],
  ['datastore-bind', '[::1]', 'is not an IP address'],
  ['datastore-bind', '127.0.0.256', 'is not an IP address'],
  ['datastore-ports', '0', 'is not a range of ports, as 25000-25999'],
  ['datastore-ports', '0-10', 'is not a range of ports, as 25000-25999'],
  ['datastore-ports', '25000-24999', 'is not a range of ports, as 25000-25999'],
  ['datastore-ports', '65000-65536', 'is not a range of ports, as 25000-25999'],
  ['datastore-ports', '25000-', 'is not a range of ports, as 25000-25999'],
  ['datastore-ports', '1-2-3', 'is not a range of ports, as 25000-25999'],
  ['datastore-ports', '25000,25001', 'is not a range of ports, as 25000-25999'],
  ['datastore-ports', '2.5e4', 'is not a range of ports, as 25000-25999'],
  ['local-repositories', '/srv/git,git', 'is not a list of absolute paths'],
  ['backup-dir', 'backups', 'is not an absolute path'],
  ['trash-days', '-1', 'is not a whole number from 0 to 3650'],
  ['min-free-disk', '-1', 'is not a whole number from 0 to 1073741824'],
  ['fetch-timeout', '0', 'is not a whole number from 1 to 86400'],
  ['build-timeout', '86401', 'is not a whole number from 1 to 86400'],
  ['start-timeout', '1h', 'is not a whole number from 1 to 86400'],
  ['log-level', 'verbose', 'is not one of debug, info, warn, error'],
  ['log-format', 'xml', 'is not one of auto, json, text'],
]

for (const [name, text, says] of bad) {
  test(`'${text}' is rejected for --${name}, and the message names its origin`, () => {
    const refusal = (where: string) => ({ code: 'invalid_option', message: `${where}: '${text}' ${says}` })
    assert.throws(() => readConfig([`--${name}=${text}`], {}), refusal(`--${name}`))
    assert.throws(() => readConfig([], { [variableOf(name)]: text }), refusal(variableOf(name)))
  })
}

test('the value of a flag is optional', () => {
  assert.ok(readConfig(['--deny-private-git-hosts', '--edge=off'], {})['deny-private-git-hosts'])
})

test('0 removes the limits of builds', () => {
  for (const limit of ['memory', 'cpu', 'pids'] as const) {
    assert.equal(readConfig([`--build-${limit}-limit=0`], {})[`build-${limit}-limit`], 0)
  }
})

test('an unknown option is rejected, with a hint how to list all', () => {
  for (const args of [['--no-such-option=1'], ['serve'], ['--listen']]) {
    assert.throws(
      () => readConfig(args, {}),
      (error: Error & { code: string; hint: string }) => {
        assert.deepEqual([error.code, error.hint], ['invalid_option', 'berthd --help lists the options'])
        return error.message.includes(args[0]!.split('=')[0]!)
      },
    )
  }
})

test('a removed option or value is ignored with a warning that names its replacement', () => {
  const without = readConfig([], {})
  const cases: [name: string, text: string, warning: RegExp][] = [
    ['take-over-prefix', '0123456789abcdef', /^ no longer exists: start with a copy of the data directory/],
    ['acme-weekly-limit', '300', /^ no longer exists: an order waits as long as/],
    ['acme-dns', 'rfc2136:ns1.example.com', /^=rfc2136:\S+ no longer exists: use --acme-dns hook:/],
  ]
  for (const [name, text, warning] of cases) {
    const given: [from: string, args: string[], env: NodeJS.ProcessEnv][] = [
      [`--${name}`, [`--${name}=${text}`], {}],
      [`--${name}`, [`--${name}`, text], {}],
      [variableOf(name), [], { [variableOf(name)]: text }],
    ]
    for (const [from, args, env] of given) {
      assert.deepEqual(readConfig(args, env), without)
      const [said = '', ...more] = removedOptionWarnings(args, env)
      assert.ok(said.startsWith(from), said)
      assert.match(said.slice(from.length), warning)
      assert.deepEqual(more, [])
    }
  }
  assert.deepEqual(removedOptionWarnings(['--edge=off'], {}), [])
})

test('the help lists every option with its default', () => {
  const lines = helpText().split('\n')
  for (const name of names) {
    const line = lines.find((one) => one.startsWith(`  --${name} `))
    assert.ok(line, name)
    // Read back: a default that is no text is shown as one would write it.
    const [, shown] = / \(([^()]+)\)$/.exec(line) ?? []
    const without = readConfig([], {})
    assert.equal(shown !== undefined, String(without[name] ?? '') !== '', line)
    if (shown !== undefined) assert.deepEqual(readConfig([`--${name}=${shown}`], {}), without, line)
  }
})

test('--acme-dns accepts a program or Cloudflare, and nothing else', () => {
  const read = (value: string) => readConfig([`--acme-dns=${value}`], {})['acme-dns']
  assert.deepEqual(read('hook:/usr/local/bin/zone'), { kind: 'hook', path: '/usr/local/bin/zone' })
  assert.deepEqual(read('cloudflare'), { kind: 'cloudflare' })
  for (const bad of ['hook:zone', 'route53']) {
    assert.throws(() => read(bad), { code: 'invalid_option', message: /^--acme-dns: / }, bad)
  }
})
