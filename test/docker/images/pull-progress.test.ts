import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPullProgress } from '../../../src/docker/images/pull.ts'

const mebibyte = 1024 * 1024

test('a pull of many layers logs a line every five seconds, and its result', () => {
  const { push, end, lines, clock } = start()
  const download = (id: string, current: number) =>
    push({ id, status: 'Downloading', progressDetail: { current: current * mebibyte, total: 10 * mebibyte } })

  push({ id: '1.27', status: 'Pulling from library/nginx' })
  push({ id: 'aaa', status: 'Already exists' })
  for (const id of ['bbb', 'ccc']) push({ id, status: 'Pulling fs layer' })
  for (let step = 0; step <= 1000; step++) {
    clock.ms += 10
    download('bbb', step / 100)
    download('ccc', step / 200)
  }
  for (const id of ['bbb', 'ccc']) {
    push({ id, status: 'Download complete' })
    push({ id, status: 'Extracting', progressDetail: { current: 1, total: 12 * mebibyte } })
    push({ id, status: 'Pull complete' })
  }
  push({ status: `Digest: sha256:${'0'.repeat(64)}` })
  end()

  assert.deepEqual(lines, [
    '1 of 3 layers are present, 7.5 MiB of 20 MiB received',
    '1 of 3 layers are present, 15 MiB of 20 MiB received',
    'pulled 2 layers of 20 MiB, 1 was already present',
  ])
})

test('a layer that arrives at once counts as received', () => {
  const { push, lines, clock } = start()

  push({ id: 'aaa', status: 'Downloading', progressDetail: { current: 1, total: 3 * mebibyte } })
  clock.ms += 5000
  push({ id: 'aaa', status: 'Download complete' })

  assert.deepEqual(lines, ['0 of 1 layer are present, 3 MiB of 3 MiB received'])
})

test('small layers, and an image without new ones, are logged without a size', () => {
  const small = start()
  for (const id of ['aaa', 'bbb', 'ccc']) small.push({ id, status: 'Already exists' })
  small.push({ id: 'ddd', status: 'Pull complete' })
  small.end()
  const known = start()
  known.push({ status: 'Status: Image is up to date' })
  known.end()

  assert.deepEqual(small.lines, ['pulled 1 layer, 3 were already present'])
  assert.deepEqual(known.lines, ['pulled: all its layers were already present'])
})

function start() {
  const lines: string[] = []
  const clock = { ms: 0 }
  return {
    ...createPullProgress(
      (line) => lines.push(line),
      () => clock.ms,
    ),
    lines,
    clock,
  }
}
