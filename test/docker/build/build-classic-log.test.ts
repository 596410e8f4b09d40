import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClassicMessage, createClassicLog } from '../../../src/docker/build/build-classic-log.ts'

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

test('the step, its container and the created images are known', () => {
  const log = createClassicLog(() => {})
  messages.forEach(log.push)
  log.push({ stream: ' ---> Removed intermediate container 1677ec7b208f\n' })
  log.push({ stream: ' ---> 555555555555\n' })
  log.push({ aux: { ID: 'sha256:stage' } })
  log.push({ aux: { ID: 'sha256:result' } })

  assert.deepEqual(log.facts(), {
    step: 'RUN npm ci',
    containers: ['1677ec7b208f'],
    baseImages: ['0c72a62922f9', 'd9f3d016466b'],
    madeImages: ['39189efe6e71', '555555555555'],
    imageId: 'sha256:result',
  })
})

test('a step from scratch has no base, and no command can claim one later', () => {
  const log = createClassicLog(() => {})
  const scratch = (step: number) => [{ stream: `Step ${step}/9 : FROM scratch` }, { stream: ' ---> \n' }]
  const messages = [...scratch(1), { stream: 'Step 2/9 : RUN /a' }, { stream: ' ---> Running in 16\n' }]
  for (const message of [...messages, ...scratch(3)]) log.push(message)

  assert.deepEqual(log.facts().baseImages, [''])
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
