// A process whose event loop hangs is killed; one that is only slow or stopped is not.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { readOwnEnd } from '../src/own-end.ts'
import { temporaryDirectory } from './support/system/directory.ts'
import { long } from './support/system/drill-size.ts'

const home = new URL('..', import.meta.url).pathname

/** Starts the watchdog with a limit of 2 s, then runs `body`; prints `ready` first. */
function launch(t: TestContext, body: string, dataDir = temporaryDirectory(t)) {
  const program = `
    import { ownEndFile } from './src/own-end.ts'
    import { startWatchdog } from './src/watchdog.ts'
    startWatchdog({ limitSeconds: 2, endFile: ownEndFile(${JSON.stringify(dataDir)}) })
    const block = (ms) => { const end = Date.now() + ms; while (Date.now() < end) {} }
    setTimeout(() => { process.stdout.write('ready'); ${body} }, 1500)
  `
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk
  })
  return { child, said: () => output, ready: once(child.stdout, 'data') }
}

const ended = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return [child.exitCode, child.signalCode]
  return once(child, 'exit')
}

test('a process whose event loop hangs is killed, logs why, and records it', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { child, said } = launch(t, 'block(120_000)', dataDir)
  assert.deepEqual(await ended(child), [null, 'SIGKILL'])
  assert.equal(readOwnEnd(dataDir)?.reason, 'event_loop_blocked')
  if (!child.stderr!.closed) await once(child.stderr!, 'close')
  assert.match(said(), /"msg":"the event loop has not run for 2 s: berthd kills itself to be restarted"/)
})

test('a slow process whose loop still turns is left alone', async (t) => {
  const slow = 'for (let n = 0; n < 40; n++) { block(100); await new Promise((done) => setImmediate(done)) }'
  const { child, said } = launch(t, `void (async () => { ${slow}; process.exit(7) })()`)
  assert.deepEqual(await ended(child), [7, null])
  assert.equal(said(), '')
})

long('a process that was stopped for longer than the limit continues', async (t) => {
  const { child, ready } = launch(t, 'setTimeout(() => process.exit(7), 3000)')
  await ready
  child.kill('SIGSTOP')
  await wait(5000)
  child.kill('SIGCONT')
  assert.deepEqual(await ended(child), [7, null])
})
