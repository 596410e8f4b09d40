// Each finding on the real thing, broken as it breaks on a host; and the manual has a row for each.
import assert from 'node:assert/strict'
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createTcpServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkActors } from '../../src/doctor/actors.ts'
import { checkBackups } from '../../src/doctor/backups.ts'
import { checkBuilds } from '../../src/doctor/builds.ts'
import { checkDns } from '../../src/doctor/dns.ts'
import { checkDocker } from '../../src/doctor/docker.ts'
import { checkEdge } from '../../src/doctor/edge.ts'
import type { Examined } from '../../src/doctor/examined.ts'
import { type Finding, finding } from '../../src/doctor/finding.ts'
import { checkFirewall } from '../../src/doctor/firewall.ts'
import { examine } from '../../src/doctor/index.ts'
import { checkLogs } from '../../src/doctor/logs.ts'
import { memoryFaults } from '../../src/doctor/memory.ts'
import { checkNode } from '../../src/doctor/node.ts'
import { checkPorts } from '../../src/doctor/ports.ts'
import { checkProcess } from '../../src/doctor/process.ts'
import { checkSubnet } from '../../src/doctor/subnet.ts'
import { codesOf, engineThat, examined } from '../support/doctor/examined.ts'
import { startNameServer } from '../support/edge/name-server.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const home = fileURLToPath(new URL('../..', import.meta.url))
const signal = new AbortController().signal

test('every code of the manual is found by a check, and every code of a check is in the manual', () => {
  const folder = join(home, 'src/doctor')
  const text = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n')
  const manual = readFileSync(join(home, 'docs/doctor.md'), 'utf8')
  const documented = [...manual.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code!)
  const isUsed = (code: string) => new RegExp(`['"]${code}['"]`).test(text)
  assert.deepEqual(
    documented.filter((code) => !isUsed(code)),
    [],
  )
  const used = [...text.matchAll(/finding\(\s*'(\w+)'/g)].map(([, code]) => code!)
  assert.deepEqual(
    used.filter((code) => !documented.includes(code)),
    [],
  )
  assert.equal(new Set(documented).size, documented.length)
  assert.ok(used.length > 45)
})

test('every code of the manual has a test that breaks what it is about', () => {
  const names = readdirSync(import.meta.dirname).map((name) => join(import.meta.dirname, name))
  const text = [...names, join(home, 'test/host-commands/doctor.test.ts')]
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
  const manual = readFileSync(join(home, 'docs/doctor.md'), 'utf8')
  const codes = [...manual.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code!)
  assert.deepEqual(
    codes.filter((code) => !text.includes(`'${code}'`)),
    [],
  )
})

test('every sentence gets its values', () => {
  const folder = join(home, 'src/doctor')
  const text = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n')
  const gaps = [...readFileSync(join(home, 'docs/doctor.md'), 'utf8').matchAll(/\{(\w+)\}/g)].map(
    ([, gap]) => gap!,
  )
  assert.deepEqual(
    [...new Set(gaps)].filter((gap) => !new RegExp(`\\b${gap}\\b`).test(text)),
    [],
  )
})

test('a value cannot move the cursor of a terminal, and a path is one word of the command', () => {
  const hostile = finding('port_taken', { port: 80, holder: 'a\u001b[2Jb\u0007c', option: '--http-port' })
  assert.equal(hostile.found, 'port 80 is held by ab c')
  const exposed = finding('file_exposed', { path: '/srv/my data; rm -rf ~', found: '0644', mode: 600 })
  assert.equal(exposed.fix, "chmod 600 '/srv/my data; rm -rf ~'")
})

test('faults of the engine: its age, a driver that copies, unknown APIs, missing limits', async (t) => {
  const outdated = await engineThat(t, { ServerVersion: '20.10.24', CgroupVersion: '1', Driver: 'vfs' })
  const foreign = await engineThat(
    t,
    { MemoryLimit: false, LiveRestoreEnabled: false },
    { MinAPIVersion: '1.60' },
  )
  const good = await engineThat(t, {})

  assert.deepEqual(codesOf(await checkDocker(examined({ engine: outdated }), signal)), [
    'docker_outdated',
    'docker_storage_vfs',
    'cgroups_v1',
  ])
  assert.deepEqual(codesOf(await checkDocker(examined({ engine: foreign }), signal)), [
    'docker_api_unknown',
    'cgroup_limits_missing',
    'docker_live_restore_off',
  ])
  assert.match(String(await checkDocker(examined({ engine: good }), signal)), /^Docker 28\.2\.2, API 1\.41, /)
})

test('an engine whose logs cannot be read back is a warning', async (t) => {
  const engine = await engineThat(t, { LoggingDriver: 'syslog' })
  assert.deepEqual(codesOf(await checkLogs(examined({ engine }), signal)), ['logs_unreadable'])
})

test('a network with the addresses of loopback collides, by whom it belongs to', async (t) => {
  const routes = readFileSync('/proc/net/route', 'latin1').trim().split('\n').slice(1)
  const [device, destination] =
    routes.map((row) => row.split(/\s+/)).find(([, to]) => to !== '00000000') ?? []
  if (!device) return t.skip('this host has no route but the default one')
  const address = [...Buffer.from(destination!, 'hex')].reverse().join('.')
  const network = (Name: string) => ({
    Name,
    Id: '0'.repeat(64),
    IPAM: { Config: [{ Subnet: `${address}/30` }] },
  })
  const engine = await engineThat(t, {}, {}, [network('berth'), network('other')])

  const found = await checkSubnet(examined({ engine }), signal)

  assert.deepEqual(codesOf(found), ['subnet_collides', 'docker_subnet_collides'])
  assert.match((found as Finding[])[0]!.found, new RegExp(`overlaps .* at ${device}`))
})

test('a program that holds a public port is named', async (t) => {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }

  const found = await checkPorts(examined({ options: [`--https-port=${port}`] }))

  const [{ code, found: words, fix }] = found as [Finding]
  assert.equal(code, 'port_taken')
  assert.ok(words.includes(`port ${port} is held by `) && words.includes(`process ${process.pid}`), words)
  assert.match(fix!, /--https-port/)
})

test('a base domain needs a wildcard record that leads to this host', async (t) => {
  const server = await startNameServer(t)
  const domain = 'apps.test'
  const look = async () =>
    codesOf(await checkDns(examined({ options: [`--base-domain=${domain}`] }), signal, [server.address]))
  assert.deepEqual(await look(), ['dns_wildcard_missing'])
  let address = '203.0.113.9'
  server.hosts.get = (name) => (name.endsWith(`.${domain}`) ? [address] : undefined)
  assert.deepEqual(await look(), ['dns_elsewhere'])
  const own = Object.values(networkInterfaces())
    .flat()
    .find((one) => one && !one.internal && one.family === 'IPv4')
  if (own) {
    address = own.address
    assert.deepEqual(await look(), [])
  }
  server.isSilent = true
  assert.deepEqual(await look(), ['dns_silent'])
})

test('the host of the dashboard needs a record, and an IPv6 address something that listens', async (t) => {
  const server = await startNameServer(t)
  server.hosts.get = (name) => (name.endsWith('.apps.test') ? ['2001:db8::9'] : undefined)
  const options = ['--base-domain=apps.test', '--dashboard-host=berth.test', '--http-port=1']

  const found = await checkDns(examined({ options }), signal, [server.address])

  assert.deepEqual(codesOf(found), ['dns_host_missing', 'dns_elsewhere', 'ipv6_unserved'])
})

test('a Node without security fixes, or one that no package updates', async () => {
  const own = { version: '20.19.0', path: '/usr/bin/node' }
  const late = codesOf(await checkNode(examined(), signal, { ...own, today: '2026-05-01' }))
  const early = codesOf(await checkNode(examined(), signal, { ...own, today: '2026-04-30' }))
  assert.deepEqual([late.includes('node_end_of_life'), early.includes('node_end_of_life')], [true, false])

  const copied = await checkNode(examined(), signal, { ...own, path: '/opt/node', today: '2026-01-01' })
  assert.deepEqual(codesOf(copied), ['node_unmanaged'])
})

test('a unit that others may write, that starts nothing, and whose settings show a secret', async (t) => {
  const folder = temporaryDirectory(t)
  const settings = join(folder, 'berth.env')
  writeFileSync(settings, 'BERTH_SMTP_PASSWORD=hunter2\n')
  const lines = [`EnvironmentFile=-${settings}`, 'ExecStart=/usr/bin/node /nowhere/main.js']
  const unit = join(folder, 'berth.service')
  writeFileSync(unit, ['[Service]', ...lines, ''].join('\n'))
  chmodSync(unit, 0o666)
  chmodSync(settings, 0o644)

  const found = codesOf(await checkProcess(examined(), signal, [folder]))

  const expected = ['unit_writable', 'env_file_exposed', 'unit_program_missing']
  assert.deepEqual(
    expected.filter((code) => !found.includes(code)),
    [],
  )
  const stopped = (await checkProcess(examined({ pid: null }), signal, [folder])) as Finding[]
  assert.deepEqual([stopped[0]!.code, stopped[0]!.fix], ['server_stopped', 'systemctl start berth.service'])
})

test('memory: little, used up, and a peak without swap', () => {
  const mebibyte = 2 ** 20
  assert.deepEqual(codesOf(memoryFaults({ total: 512 * mebibyte, free: 8 * mebibyte, swap: 0 })), [
    'memory_small',
    'memory_low',
    'swap_missing',
  ])
  assert.equal(typeof memoryFaults({ total: 8192 * mebibyte, free: 4096 * mebibyte, swap: 0 }), 'string')
})

test('what the daemon knows of itself: isolation, limits of builds, a BuildKit that hangs', async () => {
  const reasons = {
    'nft is not installed': 'nft_missing',
    'the kernel module br_netfilter is not loaded, and cannot be': 'br_netfilter_missing',
    'nft needs root, or CAP_NET_ADMIN': 'net_admin_missing',
    'the rules were changed': 'isolation_off',
  }
  for (const [isolationReason, code] of Object.entries(reasons)) {
    const live = { isolationReason, buildsReason: 'a reason', builderHangsSince: '2026-01-01T00:00:00Z' }
    assert.ok(codesOf(await checkFirewall(examined({ live }), signal)).includes(code), code)
    assert.deepEqual(codesOf(await checkBuilds(examined({ live }))), ['builder_hangs', 'builds_unlimited'])
  }
})

test('what the store knows: a parked actor, an edge that is down, missing and old backups', async (t) => {
  const records: Record<string, object> = {
    edge: {
      status: 'waiting',
      error: 'port 80 is taken',
      upgrade_error: 'a pull failed',
      version: '3.0.1',
      available: { version: '3.0.2' },
    },
    'dst-a': { backup_schedule: null },
    'dst-b': { backup_schedule: null },
    'dst-c': { backup_schedule: '@daily' },
  }
  const backups: Record<string, object[]> = {
    'dst-b': [{ status: 'good', created_at: '2020-01-01T00:00:00.000Z' }],
    'dst-c': [{ status: 'failed' }, { status: 'good', created_at: new Date().toISOString() }],
  }
  const stored = {
    actors: {
      parked: () => [{ id: 'dep-1', code: 'failed_repeatedly' }],
      record: (id: string) => records[id] ?? null,
      list: (_: string, id: string) => backups[id] ?? [],
    },
    datastores: { list: () => ['a', 'b', 'c'].map((name) => ({ id: `dst-${name}`, name })) },
    usedBytes: () => ({ used: 1, map: 2 }),
  } as unknown as NonNullable<Examined['stored']>

  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'held'), '{}')
  const held = { options: [`--data-dir=${directory}`], stored }
  assert.deepEqual(codesOf(await checkActors(examined(held))), ['server_held', 'actors_parked'])
  const [parked] = (await checkActors(examined({ stored }))) as [Finding]
  assert.match(parked.found, /dep-1 \(failed_repeatedly\)/)
  assert.deepEqual(codesOf(await checkEdge(examined({ stored }))), [
    'edge_unavailable',
    'edge_upgrade_failed',
    'edge_outdated',
  ])
  assert.deepEqual(codesOf(await checkBackups(examined({ stored }))), [
    'recovery_key_missing',
    'backup_missing',
    'backup_old',
  ])
})

test('a scheduled backup of the server is missed after its time', async (t) => {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'backup_recipient'), 'age1')
  const look = async (...records: { status: string; created_at: string }[]) => {
    const actors = {
      active: () => records.map((_, place) => ({ id: String(place) })),
      record: (id: string) => records[Number(id)],
    }
    const stored = { actors, datastores: { list: () => [] } } as unknown as NonNullable<Examined['stored']>
    const options = [`--data-dir=${directory}`, '--server-backup-schedule=0 3 * * *']
    return codesOf(await checkBackups(examined({ options, stored })))
  }
  const now = new Date().toISOString()

  assert.deepEqual(await look(), ['server_backup_missing'])
  assert.deepEqual(await look({ status: 'failed', created_at: now }), ['server_backup_missing'])
  assert.deepEqual(await look({ status: 'stored', created_at: '2020-01-01T00:00:00Z' }), [
    'server_backup_old',
  ])
  assert.deepEqual(
    await look({ status: 'stored', created_at: now }, { status: 'failed', created_at: now }),
    [],
  )
})

test('a check that hangs or fails is a finding, holds up no other, and is not started twice', async () => {
  let starts = 0
  let end = () => {}
  const hanging = {
    name: 'hanging',
    look: () => {
      starts += 1
      return new Promise<string>((resolve) => {
        end = () => resolve('good')
      })
    },
  }
  const failing = { name: 'failing', look: () => Promise.reject(new Error('no')) }
  const fine = { name: 'fine', look: async () => 'well' }
  const options = { chosen: [hanging, failing, fine], withinMs: 50 }

  const first = await examine(examined(), options)
  const second = await examine(examined(), options)

  assert.deepEqual(codesOf(first), ['check_timed_out', 'check_failed', 'fine'])
  assert.deepEqual(codesOf(second), ['check_timed_out', 'check_failed', 'fine'])
  assert.equal(starts, 1)
  end()
})
