import { test } from 'node:test'
import { probeLabel } from '../../../src/docker/build/build-fallback.ts'
import { packTar } from '../archive/archive.ts'
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
