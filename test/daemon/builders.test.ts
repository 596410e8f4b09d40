// Deploys built by the classic builder with a memory limit; the other tests use BuildKit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetchPage, pageApp } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'

const suite = daemonSuite({ args: ['--builder=classic', '--build-memory-limit=32'] })

test('a deploy built by the classic builder goes live, with its stage and arguments', async (t) => {
  const files = await pageApp('one', 'ARG CHANNEL', 'RUN echo "$CHANNEL" > /www/channel')
  files.Dockerfile += 'ARG MODE\nRUN echo "$MODE" > /www/mode\nFROM scratch AS last\n'
  files.Dockerfile = files.Dockerfile!.replace(/^FROM .*$/m, '$& AS app')
  const env = [
    { key: 'CHANNEL', value: 'stable' },
    { key: 'MODE', value: 'slow' },
  ]
  const build = { build_env: ['CHANNEL', 'MODE'], build_args: { MODE: 'fast' }, build_target: 'app' }
  const settings = { env, ...build }

  const { first, name } = await createService(t, suite.api, files, settings)

  assert.equal(first.status, 'live', first.error)
  assert.equal(await fetchPage(suite.api, name), 'one')
  assert.equal(await fetchPage(suite.api, name, '/channel'), 'stable\n')
  assert.equal(await fetchPage(suite.api, name, '/mode'), 'fast\n')
})
