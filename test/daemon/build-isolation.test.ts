// What a build cannot access: servers of the host, and the caches of other services.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { dockerfile, finishedDeploy, logLines, pageApp } from '../support/service.ts'
import { createService, daemonSuite, type TestService } from '../support/suite.ts'

const suite = daemonSuite()

test('a Dockerfile that adds a page of a server on the host fails before any request', async (t) => {
  let requests = 0
  const server = createServer((_, response) => {
    requests++
    response.end('secret')
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const Dockerfile = await dockerfile(`ARG WHERE=127.1:${port}`, `ADD http://\${WHERE}/secret.txt /s`)

  const { first } = await createService(t, suite.api, { Dockerfile })

  const reason = '127.0.0.1 is a loopback, link-local or metadata address, which a build may not read'
  assert.deepEqual(
    [first.status, first.phase, first.error],
    ['failed', 'building', `ADD http://127.1:${port}/secret.txt: ${reason}`],
  )
  assert.equal(requests, 0)
})

test('a service reuses its own cache mount; another service does not', async (t) => {
  const mount = 'RUN --mount=type=cache,target=/cache'
  const { victim, poisoner } = await openServices(t)

  const poisoned = await build(poisoner, `${mount} echo poison > /cache/file; echo written`)
  const found = await build(victim, `${mount} cat /cache/file || echo nothing`)
  const kept = await build(poisoner, `${mount} cat /cache/file; echo kept`)

  assert.ok(poisoned.some((line) => line.endsWith(`${mount} echo poison > /cache/file; echo written`)))
  assert.ok(ends(found, 'nothing'), found.join('\n'))
  assert.ok(ends(kept, 'poison'), kept.join('\n'))
  assert.ok(![...poisoned, ...found, ...kept].some((line) => line.includes(',id=')))
})

test('clear_cache empties the cache mounts of a service', async (t) => {
  const mount = 'RUN --mount=type=cache,target=/cache,id=some'
  const { victim } = await openServices(t)

  await build(victim, `${mount} echo old > /cache/file; echo written`)
  const cleared = await build(victim, `${mount} cat /cache/file || echo nothing`, { clear_cache: true })

  assert.ok(ends(cleared, 'nothing'), cleared.join('\n'))
})

test('a BuildKit error names the line of the original Dockerfile', async (t) => {
  const mount = 'RUN --mount=type=cache,target=/cache'
  const Dockerfile = await dockerfile(`${mount} true`, `${mount} exit 7`)
  const wrong = await dockerfile(`${mount} true`, '# comment', 'RAN nothing')

  const { first, deploy } = await createService(t, suite.api, { Dockerfile })

  assert.equal(first.error, `${mount} exit 7 exited with code 7`)
  assert.match((await deploy({ Dockerfile: wrong })).error, /line 4: unknown instruction: RAN$/)
})

async function openServices(t: TestContext) {
  const [victim, poisoner] = [
    await createService(t, suite.api, await pageApp('victim')),
    await createService(t, suite.api, await pageApp('poisoner')),
  ]
  return { victim, poisoner }
}

let count = 0

/** The log of a deploy with one more line in its Dockerfile. */
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
