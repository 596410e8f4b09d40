// Runs the demo like a new user, with piped output: what it prints, and that nothing is left behind.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findLeftovers } from './support/daemon/leftovers.ts'
import { hasCommand } from './support/system/command.ts'

const home = fileURLToPath(new URL('..', import.meta.url))
const nothing = { containers: [], networks: [], volumes: [], images: [] }

test('the demo shows both versions, fails no request and leaves nothing', async (t) => {
  const demo = startDemo(t, '--once')

  const code = await demo.end()

  assert.equal(code, 0, demo.output())
  assert.match(demo.output(), /page +"Hello, v1" from commit [0-9a-f]{7}/)
  assert.match(demo.output(), /page +"Hello, v2" from commit [0-9a-f]{7}/)
  assert.match(demo.output(), /page +http:\/\/hello\.localhost:\d+/)
  assert.match(demo.output(), /visits +[1-9]\d* responses from v1, then [1-9]\d* responses from v2; 0 failed/)
  assert.match(demo.output(), /\$ berth login .+\$ berth create hello .+\$ berth deploy hello/s)
  if (hasCommand('chromium')) assert.match(demo.output(), /strip +Done Queued .+Done Switching .+Live/s)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes begin with one
  assert.doesNotMatch(demo.output(), /[\x1b\r]/)
  await assertGone(demo.output())
})

test('an interrupt in the middle of the first deploy leaves nothing', async (t) => {
  const demo = startDemo(t, '--once')
  await demo.untilShown(/fetching/)

  demo.interrupt()
  await demo.end()

  assert.match(demo.output(), /Interrupted/)
  assert.doesNotMatch(demo.output(), /Hello, v2/)
  await assertGone(demo.output())
})

test('an unknown option is rejected with the usage', async (t) => {
  const demo = startDemo(t, '--nonsense')

  const code = await demo.end()

  assert.equal(code, 2)
  assert.match(demo.output(), /unknown option --nonsense[\s\S]+usage: npm run demo/)
})

interface Demo {
  output(): string
  /** Resolves with the exit code, or null after a signal. */
  end(): Promise<number | null>
  untilShown(words: RegExp): Promise<void>
  /** Ctrl-C as a terminal sends it: to npm, the demo and its daemon. */
  interrupt(): void
}

function startDemo(t: TestContext, option: string): Demo {
  const child = spawn('npm', ['run', '--silent', 'demo', '--', option], {
    cwd: home,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  const closed = once(child, 'close')
  t.after(() => closed)
  return {
    output: () => output,
    async end() {
      const [code] = await closed
      return code
    },
    async untilShown(words) {
      while (!words.test(output))
        await Promise.race([once(child.stdout, 'data'), closed.then(() => assert.fail(output))])
    },
    interrupt: () => void process.kill(-child.pid!, 'SIGINT'),
  }
}

async function assertGone(output: string): Promise<void> {
  const prefix = /prefix (berth-[0-9a-f]{8})/.exec(output)?.[1]
  const folder = /\S+\/berth-demo-\w+/.exec(output)?.[0]
  assert.ok(prefix && folder, output)
  assert.deepEqual(await findLeftovers(prefix), nothing)
  assert.equal(existsSync(folder), false, folder)
}
