import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openInstances } from '../../../src/docker/containers/instances.ts'
import { openEngine } from '../../../src/docker/engine/client.ts'
import { type DockerSite, openDockerSite, until } from '../../support/docker/docker-site.ts'
import { openEngineProxy } from '../../support/docker/engine-proxy.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { long } from '../../support/system/drill-size.ts'

const count = 20_000
const everyLine = Array.from({ length: count }, (_, at) => `line ${at + 1}`)
const writeAll = `i=0; while [ $i -lt ${count} ]; do i=$((i + 1)); echo "line $i"; done`
const never = new AbortController().signal

long('a follower whose stream breaks repeatedly loses and repeats no line', async (t) => {
  const site = await openDockerSite(t)
  const proxy = await openEngineProxy(t)
  const { name } = await site.instances.ensure(await site.spec({ command: writeAll }))
  const lines: string[] = []
  let cuts = 0

  for await (const { line } of openInstances(proxy.engine, site.owner).logs(name, {
    follow: true,
    signal: never,
  })) {
    lines.push(line)
    if (lines.length % 1_500 === 0 && ++cuts) proxy.cut()
  }

  assert.ok(cuts >= 10)
  assert.deepEqual(lines, everyLine)
})

long('following continues across a restart of the instance by Docker', async (t) => {
  const { instances, spec } = await openDockerSite(t)
  const command = 'echo up; [ -e /tmp/again ] && sleep 600; touch /tmp/again; exit 1'
  const { name } = await instances.ensure(await spec({ command, restart: 'unless-stopped' }))

  const abort = new AbortController()
  const lines: string[] = []
  for await (const { line } of instances.logs(name, { follow: true, signal: abort.signal })) {
    if (lines.push(line) === 2) abort.abort()
  }

  assert.deepEqual(lines, ['up', 'up'])
})

test('an abort ends a follower of a silent instance quietly', async (t) => {
  const { instances, spec } = await openDockerSite(t)
  const { name } = await instances.ensure(await spec({ command: 'echo up; sleep 600' }))
  const abort = new AbortController()

  const lines: string[] = []
  for await (const { line } of instances.logs(name, { follow: true, signal: abort.signal })) {
    lines.push(line)
    setImmediate(() => abort.abort())
  }

  assert.deepEqual(lines, ['up'])
})

test('the tail has the last lines of both streams with their times', async (t) => {
  const site = await openDockerSite(t)
  const name = await runToEnd(site, 'echo one; sleep 0.1; echo two >&2; sleep 0.1; printf three')

  const lines = await site.instances.tail(name, 2)

  assert.deepEqual(
    lines.map(({ stream, line }) => [stream, line]),
    [
      ['stderr', 'two'],
      ['stdout', 'three'],
    ],
  )
  for (const { ts } of lines) assert.match(ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('a removed instance has no log, and an unavailable engine is reported', async (t) => {
  const { owner, instances } = await openDockerSite(t)
  const away = openInstances(openEngine(`unix://${temporaryDirectory(t)}/none.sock`), owner)
  const options = { follow: true as const, signal: never }

  assert.deepEqual(await collect(instances.logs('berth-test-none', options)), [])
  await assert.rejects(collect(away.logs('berth-test-none', options)), { code: 'docker_unavailable' })
})

async function runToEnd({ instances, spec }: DockerSite, command: string): Promise<string> {
  const { name } = await instances.ensure(await spec({ command }))
  await until('it ends', async () => (await instances.inspect(name))?.state === 'exited')
  return name
}

async function collect(lines: AsyncIterable<{ line: string }>): Promise<string[]> {
  const collected: string[] = []
  for await (const { line } of lines) collected.push(line)
  return collected
}
