// `berth activity`, `berth actors --watch` and `berth charts`, against the API on a real store.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runBerth, startBerth } from '../../support/cli/berth.ts'
import { startApi, token } from '../../support/http/http-context.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { instant as at, eventually } from '../../support/supervisor/supervision.ts'

const kinds: Record<string, string> = { cli: 'terminal-login', dep: 'deploy', job: 'job-run' }

async function start(t: TestContext) {
  const { storage, url } = await startApi(t)
  await storage.services.create(serviceRow())
  const env = { BERTH_SERVER: url, BERTH_TOKEN: token }
  const move = (id: string, revision: number, state: string, service_id = 'svc-1') => {
    const kind = kinds[id.slice(0, 3)]!
    const by = { kind: 'token', id: 'tok-1', name: 'ci' } as const
    const entry = { at, event: `to.${state}`, state, status: 'running', phase: null, by }
    const next = transitionOf({ id, revision, service_id, kind }, { entry, status: 'running' })
    return revision === 1 ? storage.actors.create(next) : storage.actors.advance(next)
  }
  return {
    storage,
    move,
    berth: (...args: string[]) => runBerth(t, args, { env }),
    running: (...args: string[]) => startBerth(t, args, { env }),
  }
}

test('activity lists the newest last, and follows what happens then', async (t) => {
  const { berth, move, running } = await start(t)
  await move('dep-1', 1, 'queued')
  await move('dep-1', 2, 'running.building')

  const { stdout } = await berth('activity', 'shop', '-n', '1')
  const cells = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
  assert.deepEqual(cells, [
    ['AT', 'OF', 'KIND', 'STATE', 'ID', 'EVENT'],
    ['2026-01-01T00:00:00Z', 'shop', 'deploy', 'building', 'dep-1', 'to.running.building by ci'],
  ])
  const following = running('activity', '--json', '-f')
  await following.shows('to.running.building')
  await move('dep-1', 3, 'live')
  await move('cli-1', 1, 'pending')
  await move('dep-2', 1, 'queued')
  await following.shows('"actor_id":"dep-2"')
  following.interrupt()

  const ended = await following.ended()
  const revisions = ended.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).revision)
  assert.deepEqual([ended.code, revisions], [130, [1, 2, 3, 1]])
  assert.equal((await berth('activity', '--kind', 'edge')).stderr, 'nothing matches\n')
})

test('following reads the activity for what it does not know yet, not for each change', async (t) => {
  const { move, running, storage } = await start(t)
  await storage.services.create(serviceRow({ id: 'svc-2', name: 'blog' }))
  const page = t.mock.method(storage.activity, 'page')
  const following = [running('activity', 'blog', '-f'), running('activity', '-f', '--kind', 'job-run')]
  await eventually('following', () => page.mock.callCount() === 4)
  await move('dep-1', 1, 'queued')
  for (const revision of [1, 2, 3]) await move('job-1', revision, `state-${revision}`, 'svc-2')
  for (const each of following) await each.shows('to.state-3')
  for (const each of following) each.interrupt()

  const lines = await Promise.all(following.map(async (each) => (await each.ended()).stdout.split('\n')))
  const shown = ['OF', 'blog', 'blog', 'blog', '']
  assert.deepEqual(
    lines.map((all) => all.map((line) => line.split(/ +/)[1] ?? '')),
    [shown, shown],
  )
  // The names of svc-1 and svc-2 for the first, of svc-2 for the second.
  assert.equal(page.mock.callCount(), 4 + 3)
})

test('actors --watch prints the list again after each change, until Ctrl-C', async (t) => {
  const { move, running } = await start(t)
  const watching = running('actors', '--watch')
  await watching.shows('no actor is active')
  await move('dep-1', 1, 'queued')
  await watching.shows(/dep-1 +deploy +shop +running/)
  await move('dep-2', 1, 'queued')
  await watching.shows(/dep-2 .*\ndep-1 /)
  watching.interrupt()
  assert.equal((await watching.ended()).code, 130)
})

test('charts counts actors by state, shows the states of one, and prints it as Mermaid text', async (t) => {
  const { berth, move } = await start(t)
  for (const id of ['dep-1', 'dep-2']) await move(id, 1, 'live')
  await move('dep-3', 1, 'queued')
  await move('dep-3', 2, 'running.building')

  assert.match((await berth('charts')).stdout, /^deploy +2 live, 1 running.building$/m)
  const { stdout } = await berth('charts', 'deploy')
  assert.match(stdout, /^live +2 +Serves/m)
  assert.match(stdout, /^queued +0.0s +0.0s +Waits until/m)
  assert.match(
    (await berth('charts', 'deploy', '--mermaid')).stdout,
    /^stateDiagram-v2\n {2}\[\*\] --> queued\n/,
  )
  assert.equal((await berth('charts', '--mermaid')).code, 2)
  assert.equal((await berth('charts', 'unknown')).code, 3)
})
