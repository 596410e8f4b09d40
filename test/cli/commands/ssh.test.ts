// `berth ssh`: which container it asks for, with which command, and what it says of the end.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runBerth } from '../../support/cli/berth.ts'
import { startShellServer } from '../../support/cli/shell-server.ts'

async function endedWith(t: TestContext, exitCode: number, args: string[]) {
  const { url, upgrades, received } = await startShellServer(t, {
    answer: (socket) => socket.send(JSON.stringify({ type: 'exit', code: exitCode })),
  })
  const ended = await runBerth(t, ['ssh', ...args], { env: { BERTH_SERVER: url, BERTH_TOKEN: 'secret' } })
  const [start] = received.messages as { words: string[] }[]
  return { ...ended, path: upgrades[0]?.url?.replace('/api/v1', ''), words: start?.words }
}

const commands: [args: string[], path: string, words: string[]][] = [
  [['shop'], '/services/shop/shell', []],
  [['shop', '--instance', '1', '--', 'bash'], '/services/shop/shell?instance=1', ['/bin/sh', '-c', 'bash']],
  [['shop', '--', 'ls', '-l', '--json'], '/services/shop/shell', ['ls', '-l', '--json']],
  [['--job', 'job-1', '--', 'ls | wc'], '/jobs/job-1/shell', ['/bin/sh', '-c', 'ls | wc']],
]

for (const [args, path, words] of commands) {
  test(`berth ssh ${args.join(' ')}`, async (t) => {
    const ended = await endedWith(t, 3, args)
    assert.deepEqual([ended.code, ended.path, ended.words], [3, path, words])
  })
}

test('what cannot be meant is refused before anything is opened', async (t) => {
  for (const args of [['shop', 'ls'], ['shop', '--json'], ['shop', '--job', 'job-1'], []]) {
    const ended = await endedWith(t, 0, args)
    assert.deepEqual([ended.code, ended.path], [2, undefined], args.join(' '))
  }
})

test('a command that was killed has a reason and the place to look', async (t) => {
  const { code, stderr } = await endedWith(t, 137, ['shop'])
  assert.equal(code, 137)
  assert.match(
    stderr,
    /the command was killed: the instance stopped, or reached its memory limit\n +berth status shop\n/,
  )
})
