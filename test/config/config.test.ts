// The options of the daemon: from a flag, else a variable, else the default; and a bad one is named.
import assert from 'node:assert/strict'
import { availableParallelism, totalmem } from 'node:os'
import { test } from 'node:test'
import {
  type Config,
  clearTextListeners,
  helpText,
  readConfig,
  removedOptionWarnings,
} from '../../src/config/config.ts'

/** Values that are not the default, as text and as the daemon gets them: one for each kind of option. */
const values: { [Name in keyof Config]?: [text: string, value: Config[Name]] } = {
  'data-dir': ['/srv/berth', '/srv/berth'],
  listen: ['0.0.0.0:8080', '0.0.0.0:8080'],
  subnet: ['10.77.0.0/16', '10.77.0.0/16'],
  'host-ports': ['5432, 6379', [5432, 6379]],
  edge: ['host', 'host'],
  'http-port': ['8080', 8080],
  'edge-requests-per-address': ['0', 0],
  'trusted-proxy': ['10.0.0.5, fd00::/8', ['10.0.0.5', 'fd00::/8']],
  'local-repositories': ['/srv/git, /home/ada/git', ['/srv/git', '/home/ada/git']],
  'local-git-host': ['git.lan, LOCALHOST,::1', ['git.lan', 'localhost', '::1']],
  'deny-private-git-hosts': ['yes', true],
  'build-cpu-limit': ['0.5', 0.5],
  'default-cpu-limit': ['0.5', 0.5],
  'postgres-image': ['pg:{version}', 'pg:{version}'],
  'datastore-bind': ['10.0.0.9', '10.0.0.9'],
  'datastore-ports': ['5432', { first: 5432, last: 5432 }],
  inspect: ['[::1]:7879', '[::1]:7879'],
  'inspect-origin': ['https://Stately.ai, http://10.0.0.5:80', ['https://stately.ai', 'http://10.0.0.5:80']],
}
const variableOf = (name: string) => `BERTH_${name.toUpperCase().replaceAll('-', '_')}`

test('by default builds may use what the host has to spare', () => {
  const config = readConfig([], {})
  assert.match(config['data-dir'], /^\//)
  const cacheMb = config['build-cache-size']
  assert.ok(cacheMb >= 64 && cacheMb <= 10 * 1024, String(cacheMb))
  const memoryMb = Math.floor(totalmem() / 2 / 1024 / 1024)
  assert.equal(config['build-memory-limit'], Math.max(512, memoryMb))
  assert.equal(config['build-cpu-limit'], Math.round(availableParallelism() * 87.5) / 100)
})

for (const [option, [text, value]] of Object.entries(values)) {
  const name = option as keyof Config

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
  ['listen', '::1:7878', 'is not HOST:PORT (an IPv6 address in brackets)'],
  ['docker', '/var/run/docker.sock', 'is not unix:///path or tcp://host:port'],
  ['prefix', 'Berth', 'is not lower-case letters, digits and dashes, beginning with a letter'],
  ['subnet', '10.201.0.0/24', 'is not a /16 network'],
  ['base-domain', 'http://example.com', 'is not a domain'],
  ['dashboard-host', 'a b', 'is not a host name'],
  ['builder', 'buildx', 'is not one of buildkit, classic'],
  ['build-memory-limit', '15', 'is not a whole number from 16 to 16777216, or 0'],
  ['build-cpu-limit', '-1', 'is not a number from 0.01 to 512, or 0'],
  ['build-concurrency', '65', 'is not a whole number from 1 to 64'],
  ['build-concurrency', '1.5', 'is not a whole number from 1 to 64'],
  ['default-cpu-limit', '0', 'is not a number from 0.01 to 512'],
  ['default-cpu-limit', 'Infinity', 'is not a number from 0.01 to 512'],
  ['postgres-image', 'postgres:{versoin}', 'is not an image; {version} may occur in it'],
  ['datastore-bind', 'localhost', 'is not an IP address'],
  ['datastore-bind', '10.0.0.0/8', 'is not an IP address'],
  ['inspect', '0.0.0.0:7879', 'is not a loopback address'],
  ['inspect', 'localhost.example.com:7879', 'is not a loopback address'],
  ['inspect', '7879', 'is not HOST:PORT (an IPv6 address in brackets)'],
  ['inspect-origin', 'stately.ai', 'is not a list of origins, as https://example.com'],
  ['datastore-ports', '0-10', 'is not a range of ports, as 25000-25999'],
  ['datastore-ports', '25000-24999', 'is not a range of ports, as 25000-25999'],
  ['datastore-ports', '65000-65536', 'is not a range of ports, as 25000-25999'],
  ['local-repositories', '/srv/git,git', 'is not a list of absolute paths'],
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
  const without = readConfig([], {})
  for (const name of Object.keys(without) as (keyof Config)[]) {
    const line = lines.find((one) => one.startsWith(`  --${name} `))
    assert.ok(line, name)
    // Read back: a default that is no text is shown as one would write it.
    const [, shown] = / \(([^()]+)\)$/.exec(line) ?? []
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

const warned: [args: string[], listeners: string[]][] = [
  [[], []],
  [['--listen=localhost:1'], []],
  [['--listen=[::1]:1', '--datastore-bind=127.0.0.9'], []],
  [['--listen=0.0.0.0:80'], ['--listen 0.0.0.0:80']],
  [['--listen=[::]:80'], ['--listen [::]:80']],
  [['--listen=10.0.0.1:80'], ['--listen 10.0.0.1:80']],
  [['--listen=[::ffff:10.0.0.1]:80'], ['--listen [::ffff:10.0.0.1]:80']],
  [['--listen=berth.example.com:80'], ['--listen berth.example.com:80']],
  [['--datastore-bind=0.0.0.0'], ['--datastore-bind 0.0.0.0']],
  [['--base-domain=apps.example.com', '--http-port=8080'], ['--http-port 8080']],
  [['--base-domain=apps.example.com', '--acme-email=ada@example.com'], []],
  [['--base-domain=apps.example.com', '--edge=off'], []],
]

for (const [args, listeners] of warned) {
  const name = `with ${args.join(' ') || 'the defaults'} ${listeners.join() || 'nothing'} is warned of`
  test(name, () => {
    const found = clearTextListeners(readConfig(args, {}))
    assert.deepEqual(
      found.map(({ listener }) => listener),
      listeners,
    )
    for (const { warning } of found) assert.match(warning, /not encrypted there/)
  })
}
