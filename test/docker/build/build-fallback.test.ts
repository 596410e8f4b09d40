// Builds while the BuildKit of the engine hangs. test/support/docker/hung-builder.ts makes it hang.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createFallback, openBuilderWatch } from '../../../src/docker/build/build-fallback.ts'
import { openEngine } from '../../../src/docker/engine/client.ts'
import { imageName } from '../../../src/docker/engine/names.ts'
import { inspectImage } from '../../../src/docker/images/images.ts'
import { prepareBuild, unlimited } from '../../support/docker/build-site.ts'
import { openDockerSite, until } from '../../support/docker/docker-site.ts'
import { openHungBuilder } from '../../support/docker/hung-builder.ts'
import { long } from '../../support/system/drill-size.ts'
import { findProcesses } from '../../support/system/processes.ts'

const hurried = { lookMs: 50, silenceMs: 500, probeMs: 3000 }

async function openSite(t: TestContext, times: Partial<typeof hurried> = {}) {
  const site = await openDockerSite(t)
  const door = await openHungBuilder(t)
  const engine = openEngine(door.address)
  const notices: string[] = []
  const watch = openBuilderWatch(engine, {
    onHang: () => void notices.push('hangs'),
    onWorks: () => void notices.push('works'),
    times: { ...hurried, ...times },
  })
  t.after(() => {
    watch.close()
    engine.close()
  })
  return {
    ...site,
    door,
    watch,
    told: notices,
    builder: createFallback(engine, unlimited(site.owner), watch),
  }
}

const isClassic = (lines: string[]) => lines.some((line) => line.includes(' ---> Running in'))
const isReported = (lines: string[]) =>
  lines.some((line) => line.startsWith("system the Docker engine's BuildKit has been hanging since"))

long('builds that run while BuildKit hangs are completed by the classic builder', async (t) => {
  const site = await openSite(t)
  const seconds = [`3.0${process.pid}1`, `3.0${process.pid}2`]
  const builds = seconds.map((second, index) => {
    const Dockerfile = `FROM ${site.images.busybox}\nRUN sleep ${second}\nRUN echo end`
    const { request, lines } = prepareBuild(t, site.owner, { Dockerfile })
    return { lines, request: { ...request, tag: imageName(site.owner, 'web', `dep-${index}`) } }
  })
  const building = builds.map(({ request }) => site.builder.build(request))
  for (const second of seconds) {
    await until('its step runs', async () => (await findProcesses(`sleep ${second}`)).length > 0)
  }

  site.door.hang()

  await Promise.all(building)
  assert.deepEqual(site.told, ['hangs'])
  for (const { lines, request } of builds) {
    assert.ok(isReported(lines) && isClassic(lines), lines.join('\n'))
    assert.ok(await inspectImage(site.engine, request.tag))
  }
  assert.equal(site.door.held(), 1, 'one probe waits for the builder')
})

test('while BuildKit hangs a build uses the classic builder, or names the feature it needs', async (t) => {
  const site = await openSite(t)
  site.door.hang()
  const { request, lines } = prepareBuild(t, site.owner, {
    Dockerfile: `FROM ${site.images.busybox}\nRUN echo hello`,
    'cached.Dockerfile': `FROM ${site.images.busybox}\nRUN --mount=type=cache,target=/c true`,
  })
  await site.builder.build(request)
  const since = site.watch.hangsSince()
  assert.ok(since)
  lines.length = 0

  await site.builder.build(request)

  assert.deepEqual(lines.slice(0, 2), [
    `system the Docker engine's BuildKit has been hanging since ${since}`,
    'system building with the classic builder, without the build cache of BuildKit',
  ])
  await assert.rejects(site.builder.build({ ...request, dockerfile: 'cached.Dockerfile' }), {
    code: 'builder_hangs',
    message: "the Docker engine's BuildKit hangs, and the Dockerfile needs BuildKit (RUN --mount)",
  })
})

long('once BuildKit works again it is used again', async (t) => {
  const site = await openSite(t)
  const files = { Dockerfile: `FROM ${site.images.busybox}\nRUN echo hello` }
  site.door.hang()
  await site.builder.build(prepareBuild(t, site.owner, files).request)
  assert.notEqual(site.watch.hangsSince(), null)

  site.door.recover()

  await until('it works', () => site.watch.hangsSince() === null)
  const { request, lines } = prepareBuild(t, site.owner, files)
  await site.builder.build({ ...request, noCache: true })
  assert.ok(!isReported(lines) && !isClassic(lines), lines.join('\n'))
  assert.deepEqual(site.told, ['hangs', 'works'])
})

long('a step without output for a long time does not count as a hanging builder', async (t) => {
  const site = await openSite(t, { silenceMs: 200, probeMs: 30_000 })
  const { request } = prepareBuild(t, site.owner, {
    Dockerfile: `FROM ${site.images.busybox}\nRUN sleep 4`,
  })

  await site.builder.build({ ...request, noCache: true })

  assert.deepEqual(site.told, [])
})

long('a builder that still finishes builds is not treated as hung, however long a probe takes', async (t) => {
  const site = await openSite(t, { probeMs: 1500 })
  site.door.hang()
  const { request } = prepareBuild(t, site.owner, { Dockerfile: `FROM ${site.images.busybox}` })
  const abort = new AbortController()
  const silent = site.watch.during({ ...request, signal: abort.signal }, ({ signal }) => rejection(signal))
  await until('a probe', () => site.door.held() === 1)

  await site.watch.during(request, async () => null)

  await until('the end of the probe', () => site.door.held() === 0)
  await until('the next probe', () => site.door.held() === 1)
  assert.deepEqual(site.told, [])
  abort.abort(new Error('canceled'))
  await assert.rejects(silent, /canceled/)
})

/** A build without output until it is aborted. */
function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

for (const fault of [
  'failed to solve: duplicate output 0',
  'buildkit scheduler error: return leaving incoming open. Please report this with …',
  'failed to solve with frontend dockerfile.v0: failed to build LLB: inconsistent graph state',
]) {
  test(`a build that BuildKit fails with "${fault.slice(0, 60)}" is retried`, async (t) => {
    const site = await openSite(t)
    const { request, lines } = prepareBuild(t, site.owner, { Dockerfile: `FROM ${site.images.busybox}` })
    site.door.fail(fault)

    await site.builder.build(request)

    assert.equal(lines[0], 'system BuildKit failed with an internal error: retrying the build')
    assert.ok(await inspectImage(site.engine, request.tag))
  })
}

test('a build that fails because of its Dockerfile is not retried', async (t) => {
  const site = await openSite(t)
  const { request, lines } = prepareBuild(t, site.owner, {
    Dockerfile: `FROM ${site.images.busybox}\nRUN echo duplicate output 0; exit 1`,
  })

  await assert.rejects(site.builder.build(request), { code: 'build_failed' })

  assert.ok(!lines.some((line) => line.includes('building again')), lines.join('\n'))
})

test('a hanging build can be canceled immediately', async (t) => {
  const site = await openSite(t, { silenceMs: 60_000 })
  site.door.hang()
  const abort = new AbortController()
  const { request } = prepareBuild(t, site.owner, { Dockerfile: `FROM ${site.images.busybox}` })
  const building = site.builder.build({ ...request, signal: abort.signal })
  await until('it hangs', () => site.door.held() === 1)

  abort.abort(new Error('canceled'))

  await assert.rejects(building, /^Error: canceled$/)
  assert.equal(site.watch.hangsSince(), null)
})
