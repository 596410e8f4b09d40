// What a build cannot access: the cache mounts of other services.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { finishedDeploy, logLines, pageApp } from '../support/daemon/service.ts'
import { createService, daemonSuite, type TestService } from '../support/daemon/suite.ts'

const suite = daemonSuite()

test('a service reuses its own cache mount; another service does not', async (t) => {
  const mount = 'RUN --mount=type=cache,target=/cache'
  const { victim, poisoner } = await openServices(t)

  const poisoned = await build(poisoner, `${mount} echo poison > /cache/file; echo written`)
  const found = await build(victim, `${mount} cat /cache/file || echo nothing`)
  const kept = await build(poisoner, `${mount} cat /cache/file; echo kept`)

  assert.ok(ends(poisoned, 'written'), poisoned.join('\n'))
  assert.ok(ends(found, 'nothing'), found.join('\n'))
  assert.ok(ends(kept, 'poison'), kept.join('\n'))
})

test('a Dockerfile that knows the namespace of another service still gets its own mount', async (t) => {
  const name = 'BUILDKIT_CACHE_MOUNT_NS'
  const { victim, poisoner } = await openServices(t)
  const mount = (id: string) => `RUN --mount=type=cache,target=/cache,id=${id}`

  const written = await build(
    victim,
    `ARG ${name}\n${mount('x')} echo secret > /cache/file; echo "namespace is $${name}"`,
  )
  const namespace = written.flatMap((line) => / namespace is (\w{32})$/.exec(line)?.[1] ?? [])[0]
  assert.ok(namespace, written.join('\n'))

  const reads = [`ARG ${name}=${namespace}`, `ENV ${name}=${namespace}`].flatMap((line, index) => [
    line,
    `${mount('x')} : ${index} && cat /cache/file || echo nothing`,
    `${mount(`../${namespace}/x`)} : ${index} && cat /cache/file || echo nothing`,
    `${mount(`${namespace}/x`)} : ${index} && cat /cache/file || echo nothing`,
  ])
  const read = await build(poisoner, reads.join('\n'))
  assert.equal(read.filter((line) => ends([line], 'nothing')).length, 6, read.join('\n'))
  assert.ok(!ends(read, 'secret'))

  const { api } = suite
  for (const wish of [{ build_args: { [name]: namespace } }, { build_env: [name] }]) {
    const { status } = await api.call('PATCH', `/services/${poisoner.name}`, wish)
    assert.equal(status, 400)
  }
})

test('clear_cache empties the cache mounts of a service, and later builds use the new ones', async (t) => {
  const mount = 'RUN --mount=type=cache,target=/cache,id=some'
  const { victim } = await openServices(t)

  await build(victim, `${mount} echo old > /cache/file; echo written`)
  const cleared = await build(victim, `${mount} cat /cache/file || echo nothing; echo new > /cache/file`, {
    clear_cache: true,
  })
  const next = await build(victim, `${mount} cat /cache/file`)

  assert.ok(ends(cleared, 'nothing'), cleared.join('\n'))
  assert.ok(ends(next, 'new'), next.join('\n'))
})

async function openServices(t: TestContext) {
  const [victim, poisoner] = [
    await createService(t, suite.api, await pageApp('victim')),
    await createService(t, suite.api, await pageApp('poisoner')),
  ]
  return { victim, poisoner }
}

let count = 0

/** The log of a deploy with more lines in its Dockerfile. */
async function build({ repository, request }: TestService, line: string, body = {}): Promise<string[]> {
  repository.commit('Next', await pageApp(`page ${++count}`, `RUN : ${process.pid} ${count}`, line))
  const { id } = await request(body)
  const deploy = await finishedDeploy(suite.api, id)
  assert.equal(deploy.status, 'live', deploy.error)
  return logLines(suite.api, id)
}

/** Whether a command printed the word. */
function ends(lines: string[], word: string): boolean {
  return lines.some((line) => /^#\d+ \d+\.\d{3} /.test(line) && line.endsWith(` ${word}`))
}
