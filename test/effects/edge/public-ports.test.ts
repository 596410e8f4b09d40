// Whether the public ports belong to this edge alone.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import type { NetworkInterfaceInfo } from 'node:os'
import { test } from 'node:test'
import type { PortOwner } from '../../../src/edge/port-check.ts'
import {
  addressesToCheck,
  openPublicPorts,
  toProblem,
  watchPorts,
} from '../../../src/effects/edge/public-ports.ts'
import { until } from '../../support/daemon/service.ts'
import { startForeignHaproxy } from '../../support/edge/foreign-haproxy.ts'
import { startEdge } from '../../support/edge/running-edge.ts'
import { silentLogger } from '../../support/supervisor/supervision.ts'

const { signal } = new AbortController()
const look = (address: string, ...answers: PortOwner[]) => ({
  target: { address, port: 80, isTls: false },
  answers,
})

test('a port shared with another HAProxy is reported until that one has ended', async (t) => {
  const edge = await startEdge(t)
  assert.equal(await openPublicPorts(edge.frame).check(signal), null)
  // Binds ports like the edges of earlier versions.
  await edge.process.stop()
  const { configuration } = edge.files
  writeFileSync(configuration, readFileSync(configuration, 'utf8').replace(/^ noreuseport$/m, ''))
  await edge.process.ensure(signal)
  const foreign = await startForeignHaproxy(t, edge.frame.httpPort)
  assert.equal(foreign.isRunning(), true)

  const problem = await openPublicPorts(edge.frame).check(signal)

  assert.equal(problem?.code, 'port_shared')
  assert.match(
    problem.message,
    new RegExp(`port ${edge.frame.httpPort} at 127.0.0.1 \\(\\d of 8 connections`),
  )
  assert.doesNotMatch(problem.message, new RegExp(`port ${edge.frame.httpsPort}`))
  await foreign.stop()
  assert.equal(await openPublicPorts(edge.frame).check(signal), null)
})

test('ports without any listener are reported as unreachable', async (t) => {
  const edge = await startEdge(t)
  await edge.process.stop()
  const problem = await openPublicPorts(edge.frame).check(signal)
  assert.equal(problem?.code, 'port_unreachable')
})

test('a recent result is reused; the result of a canceled check is not', async (t) => {
  const edge = await startEdge(t)
  const ports = openPublicPorts(edge.frame)
  await assert.rejects(ports.check(AbortSignal.abort(new Error('given up'))), /given up/)
  assert.equal(await ports.check(signal), null)
  await edge.process.stop()
  assert.equal(await ports.check(signal), null)
})

test('a solved problem is not shown again from the cache', async (t) => {
  const edge = await startEdge(t)
  await edge.process.stop()
  const ports = openPublicPorts(edge.frame)
  assert.equal((await ports.check(signal))?.code, 'port_unreachable')
  await edge.process.ensure(signal)
  assert.equal(await ports.check(signal), null)
})

test('changes are sent and logged once', async () => {
  const problem = { code: 'port_shared' as const, message: 'another program' }
  const results = [null, null, problem, { ...problem, message: 'in other numbers' }, null]
  const sent: unknown[] = []
  const logged: string[] = []
  const over = new AbortController()
  const actors = {
    send: async (_: string, { problem: found }: { problem?: unknown }) => {
      sent.push(found)
      return { applied: true }
    },
  }
  const note = (level: string) => (fields: object | string) =>
    void logged.push(`${level} ${(fields as { code?: string }).code ?? String(fields)}`)
  const logger = { ...silentLogger, error: note('error'), info: note('info') }
  let count = 0
  const ports = { check: async () => results[count++] ?? null }
  const watching = watchPorts({ actors, logger } as never, { id: 'edge', ports, everyMs: 1 }, over.signal)
  await until('all results', async () => count > results.length)
  over.abort()
  await watching
  assert.deepEqual(sent, [null, problem, null])
  assert.deepEqual(logged, ['error port_shared', 'info requests to the public ports reach this edge again'])
})

test('silence counts only on loopback, a response of another program on every address', () => {
  assert.equal(toProblem([look('127.0.0.1', 'this edge'), look('192.0.2.1', 'none')]), null)
  assert.equal(toProblem([look('127.0.0.1', 'this edge', 'none')])?.code, 'port_unreachable')
  const shared = toProblem([
    look('127.0.0.1', 'this edge'),
    look('192.0.2.1', 'this edge', 'another program'),
  ])
  assert.deepEqual(shared, {
    code: 'port_shared',
    message: 'another program responds on port 80 at 192.0.2.1 (1 of 2 connections)',
  })
})

test('loopback and the host’s own addresses are checked, those of containers and links are not', () => {
  const one = (address: string, internal = false) =>
    [{ address, internal, family: address.includes(':') ? 'IPv6' : 'IPv4' }] as NetworkInterfaceInfo[]
  const interfaces = {
    lo: [...one('127.0.0.1', true), ...one('::1', true)],
    eth0: [...one('192.0.2.1'), ...one('2001:db8::1'), ...one('fe80::1')],
    docker0: one('172.17.0.1'),
    'br-0a1b': one('172.18.0.1'),
    link: one('169.254.3.4'),
  }
  assert.deepEqual(addressesToCheck(interfaces, true), ['127.0.0.1', '::1', '192.0.2.1', '2001:db8::1'])
  assert.deepEqual(addressesToCheck(interfaces, false), ['127.0.0.1', '192.0.2.1'])
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`eth${at}`, one(`192.0.2.${at}`)]))
  assert.equal(addressesToCheck(many, false).length, 9)
})
