import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BuildStatus, Vertex } from '../../../src/docker/build/build-log.ts'
import { createBuildLog } from '../../../src/docker/build/build-log.ts'

test('a build log matches the plain progress of the command line', () => {
  const { lines, push, log } = open()

  push({ vertexes: [vertex('a', { started: at(1) }), vertex('b', {})] })
  push({ statuses: [{ vertex: 'a', id: 'transferring context:', current: 12_345, completed: at(2) }] })
  push({ vertexes: [vertex('a', { started: at(1), completed: at(3.25) })] })
  push({ vertexes: [vertex('b', { started: at(4), completed: at(4), cached: true })] })

  assert.deepEqual(lines, [
    'system #1 step a',
    'system #1 transferring context: 12.1 KiB done',
    'system #1 DONE 2.3s',
    'system #2 step b',
    'system #2 CACHED',
  ])
  assert.equal(log.failedStep(), null)
})

test('output is logged in whole lines, in whatever pieces it arrives, with the rest at the end', () => {
  const { lines, push } = open()
  const bytes = Buffer.from('grüße\nta')

  push({ vertexes: [vertex('a', { started: at(1) })] })
  for (const byte of bytes) push({ logs: [output('a', 1, Buffer.from([byte]))] })
  push({ logs: [output('a', 2, Buffer.from('to stderr\r\n'))] })
  push({ logs: [output('a', 1, Buffer.from('il'))] })
  push({ vertexes: [vertex('a', { started: at(1), completed: at(2) })] })

  assert.deepEqual(lines.slice(1), [
    'stdout #1 0.500 grüße',
    'stderr #1 0.500 to stderr',
    'stdout #1 0.500 tail',
    'system #1 DONE 1.0s',
  ])
})

test('the failed step is identified, not the steps that were stopped with it', () => {
  const { lines, push, log } = open()
  const failed = vertex('b', { started: at(1), completed: at(2), error: 'exit code: 1' })

  push({ vertexes: [vertex('a', { started: at(1), completed: at(2), error: 'context canceled' }), failed] })

  assert.deepEqual(lines, [
    'system #1 step a',
    'system #1 CANCELED',
    'system #2 step b',
    'system #2 ERROR: exit code: 1',
  ])
  assert.equal(log.failedStep(), failed)
})

test('repeated messages are not printed again', () => {
  const { lines, push } = open()
  const done = vertex('a', { started: at(1), completed: at(2) })
  const part = { vertex: 'a', id: 'extracting', current: 0, completed: at(2) }

  push({ vertexes: [done], statuses: [part] })
  push({ vertexes: [done], statuses: [part] })

  assert.deepEqual(lines, ['system #1 step a', 'system #1 extracting done', 'system #1 DONE 1.0s'])
})

function open() {
  const lines: string[] = []
  const log = createBuildLog((stream, line) => lines.push(`${stream} ${line}`))
  const push = (status: Partial<BuildStatus>) => log.push({ vertexes: [], statuses: [], logs: [], ...status })
  return { lines, log, push }
}

function vertex(digest: string, changes: Partial<Vertex>): Vertex {
  return {
    digest,
    name: `step ${digest}`,
    cached: false,
    started: null,
    completed: null,
    error: '',
    ...changes,
  }
}

function output(vertex: string, stream: number, msg: Uint8Array) {
  return { vertex, stream, msg, timestamp: at(1.5) }
}

function at(seconds: number) {
  return { seconds: Math.floor(seconds), nanos: (seconds % 1) * 1e9 }
}
