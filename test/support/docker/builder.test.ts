// The check of the builder that runs before all tests.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { probeLabel } from '../../../src/docker/build/build-fallback.ts'
import { packTar } from '../archive/archive.ts'
import { temporaryDirectory } from '../system/directory.ts'
import { MissingPrerequisite } from '../system/missing-prerequisite.ts'
import { requireBuilder } from './builder.ts'
import { until } from './docker-site.ts'
import { ensureEngine } from './engine.ts'
import { requestEngine } from './engine-request.ts'

test('a working builder passes, and no image of a probe remains, even of an interrupted one', async () => {
  const address = await ensureEngine()
  const recipe = `FROM scratch\nLABEL ${probeLabel}=cut-${process.pid}\n`
  const body = { type: 'application/x-tar', bytes: await packTar([{ name: 'Dockerfile', content: recipe }]) }
  await requestEngine(address, '/build?version=2', { method: 'POST', body })
  await requireBuilder(address)
  // Other tests check the same engine concurrently; their builds end soon.
  await until('no image of a probe', async () => {
    const { text } = await requestEngine(address, `/images/json?filters={"label":["${probeLabel}"]}`)
    return JSON.parse(text).length === 0
  })
})

/** An engine on which every build starts and none ends, with or without a response. */
for (const responses of [true, false]) {
  const how = responses ? 'goes on without an end' : 'is never answered'
  test(`a build that ${how} is reported in one line, with what to do`, async (t) => {
    const path = join(temporaryDirectory(t), 'docker.sock')
    const server = createServer((request, response) => {
      request.resume()
      if (responses) response.writeHead(200).write('{}\n')
    })
    await once(server.listen(path), 'listening')
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })

    await assert.rejects(requireBuilder(`unix://${path}`, 300), (error) => {
      assert.ok(error instanceof MissingPrerequisite)
      assert.match(
        error.message,
        /^The builder of the Docker engine at unix:\S+ hangs .*: restart that engine\.$/,
      )
      return true
    })
  })
}
