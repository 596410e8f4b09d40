// Faults of a host, in namespaces of their own: its settings, its other firewalls, its clock, limits of the
// process, and a user without rights on the engine.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkClock } from '../../src/doctor/clock.ts'
import { checkDisk } from '../../src/doctor/disk.ts'
import { checkDocker } from '../../src/doctor/docker.ts'
import { checkFirewall } from '../../src/doctor/firewall.ts'
import { checkLogs } from '../../src/doctor/logs.ts'
import { checkProcess } from '../../src/doctor/process.ts'
import { codesOf, engineThat, examined } from '../support/doctor/examined.ts'
import { run } from '../support/system/command.ts'
import { isInside, runInside, whyNoNamespace } from '../support/system/namespace.ts'

const signal = new AbortController().signal

async function outside(): Promise<void> {
  const skip = (await whyNoNamespace()) ?? false
  test('faults of a host, in a namespace', { skip }, async () => {
    const { code, lines } = await runInside(import.meta.url, {})
    assert.equal(code, 0, lines.join('\n'))
  })
}

/** Nothing that is written to /etc and /run from here on is seen outside. */
async function coverFolders(): Promise<void> {
  await run('mount', ['-t', 'tmpfs', 'tmpfs', '/run'])
  for (const name of ['/run/upper', '/run/work']) mkdirSync(name)
  const layers = 'lowerdir=/etc,upperdir=/run/upper,workdir=/run/work'
  await run('mount', ['-t', 'overlay', 'overlay', '-o', layers, '/etc'])
}

function writeSettings(path: string, text: string): () => void {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  return () => rmSync(path)
}

async function engineSettings(t: TestContext): Promise<void> {
  const engine = await engineThat(t, { LoggingDriver: 'json-file' })
  const path = '/etc/docker/daemon.json'
  writeSettings(path, '{ "log-driver": }')
  assert.deepEqual(codesOf(await checkDocker(examined({ engine }), signal)), ['docker_config_invalid'])
  writeSettings(path, '{}')
  assert.deepEqual(codesOf(await checkLogs(examined({ engine }), signal)), ['foreign_logs_unbounded'])
  const undo = writeSettings(path, '{ "log-opts": { "max-size": "10m" } }')
  assert.deepEqual(codesOf(await checkLogs(examined({ engine }), signal)), [])
  undo()
}

async function firewalls(): Promise<void> {
  const live = { isolationReason: null, buildsReason: null, builderHangsSince: null }
  const look = async () => codesOf(await checkFirewall(examined({ live }), signal))
  const forwarding = '/proc/sys/net/ipv4/ip_forward'
  writeFileSync(forwarding, '1')
  rmSync('/etc/ufw/ufw.conf', { force: true })
  assert.deepEqual(await look(), [])
  writeFileSync(forwarding, '0')
  assert.deepEqual(await look(), ['ip_forward_off'])
  writeFileSync(forwarding, '1')
  const undo = writeSettings('/etc/ufw/ufw.conf', '# comment\nENABLED=yes\n')
  assert.deepEqual(await look(), ['ufw_bypassed'])
  undo()
  writeSettings('/run/firewalld.pid', '7\n')
  assert.deepEqual(await look(), ['firewalld_bypassed'])
}

/** No process of the host is seen here, and systemd does not answer. */
async function clock(): Promise<void> {
  assert.deepEqual(codesOf(await checkClock(examined(), signal)), ['clock_unkept'])
  const program = '/run/programs/timedatectl'
  const own = process.env.PATH
  writeSettings(program, '#!/bin/sh\necho no\n')
  chmodSync(program, 0o755)
  process.env.PATH = `/run/programs:${own}`
  assert.deepEqual(codesOf(await checkClock(examined(), signal)), ['clock_unsynchronized'])
  process.env.PATH = own
}

async function openFiles(t: TestContext): Promise<void> {
  const look = async ({ pid }: ChildProcess) =>
    codesOf(await checkProcess(examined({ pid: pid! }), signal, ['/nowhere']))
  const few = await limited(t, 1000, 'echo ready')
  assert.ok((await look(few)).includes('files_few'))
  const many = await limited(t, 10, 'exec 3>&1 4>&1 5>&1 6>&1 7>&1 8>&1; echo ready')
  assert.ok((await look(many)).includes('files_exhausted'))
}

async function supervision(t: TestContext): Promise<void> {
  const { pid } = await limited(t, 10_000, 'echo ready')
  const look = async (group: string) => {
    writeSettings('/run/group', `0::${group}\n`)
    return codesOf(await checkProcess(examined({ pid: pid! }), signal, ['/nowhere']))
  }
  writeSettings('/run/group', '')
  await run('mount', ['--bind', '/run/group', `/proc/${pid}/cgroup`])
  assert.deepEqual(await look('/user.slice/session-1.scope'), ['server_not_supervised'])
  assert.deepEqual(await look('/system.slice/berth.service'), [])
}

/** A process that may open so many files, once it has run the commands. */
async function limited(t: TestContext, files: number, commands: string): Promise<ChildProcess> {
  const shell = ['sh', '-c', `${commands}; exec sleep 60`]
  const child = spawn('prlimit', [`--nofile=${files}`, ...shell], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill())
  await once(child.stdout!, 'data')
  return child
}

async function inodes(): Promise<void> {
  const folder = '/run/disk'
  mkdirSync(folder)
  await run('mount', ['-t', 'tmpfs', '-o', 'nr_inodes=200', 'tmpfs', folder])
  const look = async () =>
    codesOf(await checkDisk(examined({ options: [`--data-dir=${folder}`, '--min-free-disk=1'] }), signal))
  assert.deepEqual(await look(), [])
  for (let count = 0; count < 193; count++) writeFileSync(join(folder, String(count)), '')
  assert.deepEqual(await look(), ['inodes_low'])
}

async function forbidden(t: TestContext): Promise<void> {
  const engine = await engineThat(t, {})
  const nobody = 65534
  process.seteuid!(nobody)
  try {
    assert.deepEqual(codesOf(await checkDocker(examined({ engine }), signal)), ['docker_forbidden'])
  } finally {
    process.seteuid!(0)
  }
}

if (isInside) {
  await coverFolders()
  test('settings of the engine that are no JSON, and logs without a limit', engineSettings)
  test('a kernel that does not forward, and firewalls that Docker bypasses', firewalls)
  test('a clock that nothing keeps, or that is not synchronized', clock)
  test('a limit of open files that is low, or nearly reached', openFiles)
  test('a process that nothing starts again', supervision)
  test('a disk with few inodes left', inodes)
  test('an engine that refuses this user', forbidden)
} else await outside()
