import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClassicMessage, createClassicLog } from '../../../src/docker/build/build-classic.ts'
import { type BuildStatus, createBuildLog, type Vertex } from '../../../src/docker/build/build-log.ts'

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

test('the name of a step is short, however long its command is', () => {
  const { lines, push } = open()

  push({ vertexes: [vertex('a', { started: at(1), name: 'RUN '.repeat(100_000) })] })

  assert.deepEqual(lines, [`system #1 ${'RUN '.repeat(125)}…`])
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

const esc = '\u001b'

/** As engines send it, up to the error. */
const messages: ClassicMessage[] = [
  { stream: 'Step 1/4 : FROM base' },
  { stream: '\n' },
  { status: 'Pulling from base', id: 'v1' },
  { status: 'Downloading', id: 'abc', progress: '[==>  ]' },
  { stream: ' ---> 0c72a62922f9\n' },
  { stream: 'Step 2/4 : ARG A' },
  { stream: '\n' },
  { stream: ' ---> Using cache\n' },
  { stream: ' ---> d9f3d016466b\n' },
  { stream: 'Step 3/4 : COPY . /app' },
  { stream: '\n' },
  { stream: ' ---> 39189efe6e71\n' },
  { stream: 'Step 4/4 : RUN npm ci' },
  { stream: '\n' },
  { stream: ' ---> Running in 1677ec7b208f\n' },
  { stream: 'out\npar' },
  { stream: `${esc}[91merr ${esc}[1mbold${esc}[0m\n${esc}[0m` },
  { stream: 'tial\nStep 5/9 : not one\n' },
  { stream: ' ---> aaaaaaaaaaaa\nthe end' },
]

test('engine messages, command output and its stream are distinguished', () => {
  assert.deepEqual(linesOf(messages), [
    'system Step 1/4 : FROM base',
    'system v1: Pulling from base',
    'system  ---> 0c72a62922f9',
    'system Step 2/4 : ARG A',
    'system  ---> Using cache',
    'system  ---> d9f3d016466b',
    'system Step 3/4 : COPY . /app',
    'system  ---> 39189efe6e71',
    'system Step 4/4 : RUN npm ci',
    'system  ---> Running in 1677ec7b208f',
    'stdout out',
    `stderr err ${esc}[1mbold${esc}[0m`,
    'stdout partial',
    'stdout Step 5/9 : not one',
    'stdout  ---> aaaaaaaaaaaa',
  ])
})

test('the end of a command ends its last line, with messages of old and new engines', () => {
  const ends = [
    'Removing intermediate container 1677ec7b208f\n',
    ' ---> Removed intermediate container 1677ec7b208f\n',
  ]

  for (const end of ends) {
    const lines = linesOf([...messages, { stream: end }, { stream: ' ---> 555555555555\n' }, { error: 'oh' }])
    assert.deepEqual(lines.slice(-4), [
      'stdout the end',
      `system ${end.trimEnd()}`,
      'system  ---> 555555555555',
      'system ERROR: oh',
    ])
  }
})

test('the step, its container and the image are known', () => {
  const log = createClassicLog(() => {})
  messages.forEach(log.push)
  log.push({ stream: ' ---> Removed intermediate container 1677ec7b208f\n' })
  log.push({ stream: ' ---> 555555555555\n' })
  log.push({ aux: { ID: 'sha256:stage' } })
  log.push({ aux: { ID: 'sha256:result' } })

  assert.deepEqual(log.facts(), {
    step: 'RUN npm ci',
    container: '1677ec7b208f',
    imageId: 'sha256:result',
  })
})

test('only the line that reports a change of a step carries its state', () => {
  const states: (string | undefined)[] = []
  const log = createClassicLog((_stream, _line, step) => states.push(step?.state))
  messages.slice(0, 8).forEach(log.push)

  assert.deepEqual(states, ['started', undefined, undefined, 'started', 'cached'])
})

function linesOf(all: ClassicMessage[]): string[] {
  const lines: string[] = []
  const log = createClassicLog((stream, line) => lines.push(`${stream} ${line}`))
  all.forEach(log.push)
  return lines
}
