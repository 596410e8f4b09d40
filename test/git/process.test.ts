// That git always ends: a group is killed as a whole, and what a killed daemon left behind is found again.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createProgress } from '../../src/git/process.ts'
import { reapProcesses } from '../../src/process-groups.ts'
import { startCheckout } from '../support/git/checkout.ts'
import { gitProcesses, stopGitProcesses, untilGitProcesses } from '../support/git/git-processes.ts'
import { createGitServer, type GitServerAnswer } from '../support/git/git-server.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

/** Large enough that its pack is cut in the middle, with more objects than git unpacks one by one. */
function createLargeRepository(t: TestContext) {
  const repository = createRepository(t)
  const names = Array.from({ length: 300 }, (_, index) => `file-${index}`)
  const files = names.map((name) => [name, randomBytes(600).toString('hex')])
  repository.commit('Large', Object.fromEntries(files))
  return repository
}

const newMarker = () => `dep-${randomBytes(6).toString('hex')}`
const runs = (name: string) => (commands: string[]) => commands.some((line) => line.includes(name))

const silences: [what: string, answer: GitServerAnswer, helper: string][] = [
  ['never answers', 'hang', 'remote-http'],
  ['stops in the middle of the pack', 'stall', 'index-pack'],
]

for (const [what, answer, helper] of silences) {
  test(`no git process remains after an abort while the remote ${what}`, async (t) => {
    const { url } = await createGitServer(t, { ...createLargeRepository(t), answer: () => answer })
    const [marker, abort] = [newMarker(), new AbortController()]
    const { done } = startCheckout(t, { url: `${url}/app`, marker, signal: abort.signal })
    const ended = assert.rejects(done, { name: 'Error', message: 'canceled' })
    await untilGitProcesses(marker, runs(helper))

    abort.abort(new Error('canceled'))
    await ended

    assert.deepEqual(gitProcesses(marker), [])
  })
}

test('an aborted signal starts no git at all', async (t) => {
  const { url, requests } = await createGitServer(t, createLargeRepository(t))

  const signal = AbortSignal.abort(new Error('canceled'))
  await assert.rejects(startCheckout(t, { url: `${url}/app`, signal }).done, { message: 'canceled' })

  assert.deepEqual(requests, [])
})

const daemon = `
  import { checkoutSource } from './src/git/checkout.ts'
  import { parseRepositoryUrl } from './src/git/repository.ts'
  const [url, directory, marker] = process.argv.slice(1)
  await checkoutSource({
    ...{ repository: parseRepositoryUrl(url), credentials: null, branch: 'main', commit: null },
    ...{ directory, localRepositories: [], hostRules: { denyPrivateHosts: false, localHosts: ['127.0.0.1'] },
    marker, onLine() {}, signal: new AbortController().signal },
  })
`

test('the git processes of a killed daemon are ended by their marker', async (t) => {
  const { url } = await createGitServer(t, { ...createLargeRepository(t), answer: () => 'stall' })
  const [marker, directory] = [newMarker(), temporaryDirectory(t)]
  const cwd = new URL('../..', import.meta.url).pathname
  const flags = ['--import', 'tsx', '--input-type=module', '--eval', daemon]
  const child = spawn(process.execPath, [...flags, '--', `${url}/app`, directory, marker], {
    cwd,
    stdio: 'inherit',
  })
  const ended = new Promise((resolve) => child.on('exit', resolve))
  await untilGitProcesses(marker, runs('index-pack'))
  stopGitProcesses(marker)
  child.kill('SIGKILL')
  await ended
  assert.equal(runs('index-pack')(gitProcesses(marker)), true, 'git outlives the daemon')

  const killed = await reapProcesses(marker)

  assert.equal(killed >= 3, true, `only ${killed} were killed`)
  assert.deepEqual(gitProcesses(marker), [])
})

test('processes whose marker only has the same prefix are left alone', async (t) => {
  const marker = newMarker()
  const env = { PATH: process.env.PATH, BERTH_GIT_MARKER: `${marker}-other` }
  const other = spawn('sleep', ['60'], { env })
  t.after(() => other.kill('SIGKILL'))
  await untilGitProcesses(`${marker}-other`, (commands) => commands.length === 1)

  const killed = await reapProcesses(marker)

  assert.deepEqual([killed, gitProcesses(`${marker}-other`)], [0, ['sleep 60']])
})

function readAll(pieces: string[]): { lines: string[]; said: string[] } {
  const lines: string[] = []
  const progress = createProgress((line) => lines.push(line))
  for (const piece of pieces) progress.write(piece)
  progress.end()
  return { lines, said: progress.outputLines() }
}

test('of a progress line that git rewrites only the last state is shown, for any chunks', () => {
  const text =
    'remote: Counting objects:  50% (1/2)\rremote: Counting objects: 100% (2/2), done.        \n' +
    'Receiving objects:  50% (1/2)\rReceiving objects: 100% (2/2), 1.2 KiB, done.\n'
  const lines = [
    'remote: Counting objects: 100% (2/2), done.',
    'Receiving objects: 100% (2/2), 1.2 KiB, done.',
  ]

  assert.deepEqual(readAll([text]).lines, lines)
  assert.deepEqual(readAll([...text]).lines, lines)
})

test('git messages about refs and failures are kept for the reason and not shown as progress', () => {
  const { lines, said } = readAll([
    'From https://example.com/web\n * branch main -> FETCH_HEAD\nfatal: no',
    ' way',
  ])

  assert.deepEqual(lines, [])
  assert.deepEqual(said, ['From https://example.com/web', ' * branch main -> FETCH_HEAD', 'fatal: no way'])
})

test('a remote cannot send commands to the terminal of the reader', () => {
  const { lines } = readAll(['remote: \u001b[31mred\u0007\u001b]0;title\n'])

  assert.deepEqual(lines, ['remote:  [31mred  ]0;title'])
})
