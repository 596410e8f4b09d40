// Why a process ended: only what it caused itself is on record.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { forgetOwnEnd, ownEndFile, readOwnEnd, recordOwnEnd } from '../src/own-end.ts'
import { temporaryDirectory } from './support/system/directory.ts'

const home = new URL('..', import.meta.url).pathname

/** Runs `body` in a process with a small heap that records its exhaustion; prints `ready` first. */
function launch(t: TestContext, dataDir: string, body: string) {
  const program = `
    import { reportHeapExhaustion } from './src/own-end.ts'
    reportHeapExhaustion(${JSON.stringify(dataDir)})
    process.stdout.write('ready')
    ${body}
  `
  const args = ['--max-old-space-size=40', '--import', 'tsx', '--input-type=module', '--eval', program]
  const child = spawn(process.execPath, args, { cwd: home, stdio: ['ignore', 'pipe', 'ignore'] })
  t.after(() => child.kill('SIGKILL'))
  return { child, ready: once(child.stdout, 'data'), ended: once(child, 'exit') }
}

test('an exhausted heap is on record, once', async (t) => {
  const dataDir = temporaryDirectory(t)
  const fill = 'const all = []; for (;;) all.push({ number: Math.random() })'
  await launch(t, dataDir, fill).ended
  const end = readOwnEnd(dataDir)
  assert.equal(end?.reason, 'heap_exhausted')
  assert.deepEqual(readOwnEnd(dataDir), end)
  forgetOwnEnd(dataDir)
  assert.equal(readOwnEnd(dataDir), null)
})

for (const signal of ['SIGKILL', 'SIGTERM', 'SIGABRT'] as const) {
  test(`an end by ${signal} from outside is not on record`, async (t) => {
    const dataDir = temporaryDirectory(t)
    const { child, ready, ended } = launch(t, dataDir, 'setInterval(() => {}, 1000)')
    await ready
    child.kill(signal)
    assert.deepEqual(await ended, [null, signal])
    assert.equal(readOwnEnd(dataDir), null)
  })
}

test('an end without a reason counts, because the disk may be full', (t) => {
  const dataDir = temporaryDirectory(t)
  writeFileSync(ownEndFile(dataDir), '')
  assert.equal(readOwnEnd(dataDir)?.reason, 'event_loop_blocked')
})

test('a process that cannot record its end only ends', () => {
  recordOwnEnd('/proc/no-such-directory', 'uncaught_error')
})
