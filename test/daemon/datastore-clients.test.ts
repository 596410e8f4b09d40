// `berth db psql` and `berth db redis-cli` with real servers and clients.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type BerthOptions, runBerth } from '../support/cli/berth.ts'
import { keys, openTerminal } from '../support/cli/pty.ts'
import { spawnBerth } from '../support/cli/spawned.ts'
import { openDatastoreSite } from '../support/daemon/datastores.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { long } from '../support/system/drill-size.ts'

const site = await openDatastoreSite(fileScope())
const { containerOf, create, daemon, inside } = site
const shop = await create({ kind: 'postgres', name: 'shop' })
const cache = await create({ kind: 'redis', name: 'cache' })

const berth = (t: TestContext, args: string[], options: BerthOptions = {}) =>
  runBerth(t, ['db', ...args], { daemon, ...options })
const psql = (t: TestContext, words: string[], options: BerthOptions = {}) =>
  berth(t, ['psql', 'shop', ...words], options)

/** The command lines of the container's processes, from the host. */
async function commandsIn(name: string): Promise<string[]> {
  const { Processes } = await containerOf(name).top()
  return Processes.map((fields: string[]) => fields.at(-1)!)
}

/** Passed only by clients. */
const clientsIn = async (name: string) =>
  (await commandsIn(name)).filter((command) => /psql|redis-cli|lifeline|pg_sleep|SELECT$/.test(command))

const cleared = (name: string) => until('no client there', async () => (await clientsIn(name)).length === 0)

test('psql at a terminal runs queries, cancels by Ctrl-C and exits by q', async (t) => {
  const terminal = openTerminal(t, ['db', 'psql', 'shop'], { daemon, columns: 100 })
  await terminal.shows('shop=#')
  terminal.type(`select 6 * 7 as answer, current_user;${keys.enter}`)
  await terminal.shows(/42 \| shop/)
  terminal.type(`\\! stty size${keys.enter}`)
  await terminal.shows(/^40 100\s*$/m)

  terminal.type(`\\! cat /proc/$PPID/oom_score_adj${keys.enter}`)
  await terminal.shows(/^1000\s*$/m)

  terminal.type(`select pg_sleep(1000);${keys.enter}`)
  await until('the query', async () => (await commandsIn('shop')).some((line) => /SELECT$/.test(line)))
  terminal.type(keys.interrupt)
  await terminal.shows('canceling statement due to user request')
  terminal.type(`\\q${keys.enter}`)

  assert.equal(await terminal.ended(), 0)
  await cleared('shop')
  assert.doesNotMatch(await inside(containerOf('shop').id, 'ls -A ~ /'), /history/)
})

test('psql accepts arguments after --, and its exit code and both outputs are passed on', async (t) => {
  const requested = await psql(t, ['--', '-XAtc', "select 'it''s ' || current_database()"])
  assert.deepEqual(requested, { code: 0, stdout: "it's shop\n", stderr: '' })

  const failed = await psql(t, ['--', '-c', 'select 1/0'])
  assert.deepEqual(failed, { code: 1, stdout: '', stderr: 'ERROR:  division by zero\n' })
})

test('psql reads piped input and writes output of any size', async (t) => {
  const rows = Array.from({ length: 200_000 }, (_, index) => `${index}\trow ${index}`).join('\n')
  const table = 'create table big (id int, word text);'
  const input = `${table}\ncopy big from stdin;\n${rows}\n\\.\nselect count(*) from big;`
  const copied = await psql(t, ['--', '-XAtq', '-v', 'ON_ERROR_STOP=1'], { input })
  assert.deepEqual(copied, { code: 0, stdout: '200000\n', stderr: '' })

  const { code, stdout } = await psql(t, ['--', '-XAtc', 'select word from big order by id'])
  assert.equal(code, 0)
  assert.equal(stdout, `${Array.from({ length: 200_000 }, (_, index) => `row ${index}`).join('\n')}\n`)
})

test('redis-cli works at a terminal, with arguments and through a pipe', async (t) => {
  const terminal = openTerminal(t, ['db', 'redis-cli', 'cache'], { daemon })
  await terminal.shows('127.0.0.1:6379>')
  terminal.type(`set word kept${keys.enter}`)
  await terminal.shows(/^OK/m)
  terminal.type(`quit${keys.enter}`)
  assert.equal(await terminal.ended(), 0)

  const words = await berth(t, ['redis-cli', 'cache', '--', 'get', 'word'])
  assert.deepEqual(words, { code: 0, stdout: 'kept\n', stderr: '' })
  const piped = await berth(t, ['redis-cli', 'cache'], { input: 'get word\ndbsize\n' })
  assert.deepEqual(piped, { code: 0, stdout: 'kept\n1\n', stderr: '' })
  await cleared('cache')
})

test('no password appears in an argument list or in the log', async (t) => {
  const terminals = [
    openTerminal(t, ['db', 'psql', 'shop'], { daemon }),
    openTerminal(t, ['db', 'redis-cli', 'cache'], { daemon }),
  ]
  await terminals[0]!.shows('shop=#')
  await terminals[1]!.shows('127.0.0.1:6379>')
  const seen = [...(await commandsIn('shop')), ...(await commandsIn('cache'))]
  assert.ok(seen.includes('psql') && seen.some((command) => command.startsWith('redis-cli')), seen.join('\n'))
  for (const { password } of [shop, cache]) {
    assert.ok(seen.every((command) => !command.includes(password)))
    assert.ok(daemon.log.every((line) => !line.includes(password)))
  }
})

long('nothing remains when the command is killed, at a terminal or through pipes', async (t) => {
  const terminal = openTerminal(t, ['db', 'psql', 'shop'], { daemon })
  await terminal.shows('shop=#')
  const piped = spawnBerth(t, ['db', 'psql', 'shop', '--', '-c', 'select pg_sleep(1000)'], { daemon })
  await until('both', async () => (await clientsIn('shop')).filter((each) => /SELECT$/.test(each)).length > 0)

  piped.child.kill('SIGKILL')
  terminal.kill()

  await cleared('shop')
})

test('a wrong kind, a wrong name and an unavailable datastore have clear errors', async (t) => {
  const other = await berth(t, ['psql', 'cache'])
  assert.deepEqual(other, {
    code: 2,
    stdout: '',
    stderr: ' ✘ cache is a redis datastore, which psql cannot open\n   berth db redis-cli cache\n',
  })
  const reverse = await berth(t, ['redis-cli', 'shop'])
  assert.match(
    reverse.stderr,
    /✘ shop is a postgres datastore, which redis-cli cannot open\n {3}berth db psql shop\n$/,
  )

  const unknown = await berth(t, ['psql', 'shup'])
  assert.equal(unknown.code, 3)
  assert.match(unknown.stderr, /there is no datastore '/)

  const json = await berth(t, ['psql', '--json', 'shop'])
  assert.deepEqual([json.code, json.stdout], [2, ''])

  const broken = await site.api.post('/datastores', { kind: 'postgres', name: 'broken', version: '99' })
  assert.equal(broken.status, 'failed')
  const failed = await berth(t, ['psql', 'broken'])
  assert.deepEqual([failed.code, failed.stdout], [1, ''])
  assert.match(failed.stderr, /✘ broken is failed: .*\n {3}berth db restart broken\n$/)
})
