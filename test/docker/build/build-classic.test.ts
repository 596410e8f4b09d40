// What only the classic builder does: a memory limit, no secrets, and leftovers that have to
// be looked after.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Builder } from '../../../src/docker/build/build.ts'
import { createClassic } from '../../../src/docker/build/build-classic.ts'
import { openBuildGuard } from '../../../src/docker/build/build-guard.ts'
import { acceptStatus, orNull } from '../../../src/docker/engine/client.ts'
import { buildHost, type Owner } from '../../../src/docker/engine/names.ts'
import { buildContainers, drivers, prepareBuild, unlimited } from '../../support/docker/build-site.ts'
import { type DockerSite, openDockerSite, testOwner, until } from '../../support/docker/docker-site.ts'
import { long } from '../../support/system/drill-size.ts'

/** Only root can read which process the kernel killed at a limit. */
const skip = process.getuid?.() === 0 ? false : 'needs root'

test('a step that exceeds the memory limit is named with it; one within it is built', {
  skip,
}, async (t) => {
  const site = await openDockerSite(t)
  const builder = limited(site)
  const { request } = prepareBuild(t, site.owner, {
    Dockerfile: `FROM ${site.images.busybox}\nRUN echo small`,
  })
  const greedy = prepareBuild(t, site.owner, {
    Dockerfile: `FROM ${site.images.busybox}\nRUN tail /dev/zero`,
  })

  await builder.build(request)
  const refusal = builder.build(greedy.request)

  await assert.rejects(refusal, {
    code: 'build_failed',
    message: 'RUN tail /dev/zero was killed at the memory limit of builds, 32 MiB (--build-memory-limit)',
  })
})

test('a Dockerfile that mounts a secret fails and names the builder it needs', async (t) => {
  const site = await openDockerSite(t)
  const mount = 'RUN --mount=type=secret,id=TOKEN cat /run/secrets/TOKEN'
  const { request } = prepareBuild(t, site.owner, { Dockerfile: `FROM ${site.images.busybox}\n${mount}` })

  const building = drivers.classic(site).build({ ...request, secrets: [{ key: 'TOKEN', value: 'x' }] })

  await assert.rejects(building, {
    code: 'build_failed',
    message: `${mount}: the --mount option requires BuildKit (--builder buildkit)`,
  })
})

test('a failed or aborted build leaves no containers or images of its steps', async (t) => {
  const site = await openDockerSite(t)
  const builder = drivers.classic(site)
  const failing = prepareSteps(t, site, 'exit 3')
  const hanging = prepareSteps(t, site, 'sleep 600')

  await assert.rejects(builder.build(failing.request), { message: 'RUN exit 3 exited with code 3' })
  const { building, abort } = await beginBuild(builder, hanging)
  abort()

  await assert.rejects(building, /^Error: canceled$/)
  const stepImageIds = [...stepImages(failing.lines), ...stepImages(hanging.lines)]
  assert.equal(stepImageIds.length, 4)
  assert.deepEqual(await existing(site, stepImageIds), [])
  assert.deepEqual(await buildContainers(site), [])
})

long('images of an aborted build stay while another build may use them', async (t) => {
  const site = await openDockerSite(t)
  const builder = drivers.classic(site)
  const [first, second] = [prepareSteps(t, site, 'sleep 600'), prepareSteps(t, site, 'sleep 601')]
  const [one, other] = [await beginBuild(builder, first), await beginBuild(builder, second)]

  one.abort()
  await assert.rejects(one.building, /^Error: canceled$/)
  const kept = await existing(site, stepImages(first.lines))
  other.abort()
  await assert.rejects(other.building, /^Error: canceled$/)

  assert.equal(kept.length, 2)
  assert.deepEqual(await existing(site, [...kept, ...stepImages(second.lines)]), [])
})

long('containers left by an engine that died during a build are removed', async (t) => {
  const site = await openDockerSite(t)
  const { docker } = site.engine
  const create = (owner: Owner) => {
    const HostConfig = { ExtraHosts: [`${buildHost(owner)}:0.0.0.0`] }
    return docker.createContainer({ Image: site.images.busybox, HostConfig })
  }
  await create(site.owner)
  const foreign = await create(testOwner())
  t.after(() => foreign.remove())
  const { request } = prepareSteps(t, site, 'true')

  await drivers.classic(site).build(request)

  assert.deepEqual(await buildContainers(site), [])
  assert.equal((await foreign.inspect()).Id, foreign.id)
})

long('an image that the engine finished after the build was aborted is removed too', async (t) => {
  const site = await openDockerSite(t)
  const { docker } = site.engine
  const large = `RUN echo ${site.owner.prefix} && head -c 100000000 /dev/zero > /large`
  const files = { Dockerfile: `FROM ${site.images.busybox}\n${large}\nRUN sleep 600` }
  const { request } = prepareBuild(t, site.owner, files)
  const abort = new AbortController()
  const builder = drivers.classic(site)
  const building = builder.build({ ...request, signal: abort.signal })
  building.catch(() => {})
  const [container] = await until('its container', async () => {
    const ids = await buildContainers(site)
    return ids.length > 0 && ids
  })
  await until('the end of its command', async () => {
    const info = await orNull(site.engine.call('look', () => docker.getContainer(container!).inspect()))
    return info === null || info.State.Status === 'exited'
  })
  abort.abort(new Error('canceled'))
  await assert.rejects(building, /^Error: canceled$/)
  // Long enough for the engine to end what it was at.
  await builder.build(prepareSteps(t, site, 'sleep 3').request)

  assert.deepEqual(await listImages(site, container!), [])
  assert.deepEqual(await buildContainers(site), [])
})

long('an image that the engine refused to remove after a build is removed with the next one', async (t) => {
  const site = await openDockerSite(t)
  const builder = drivers.classic(site)
  const steps = prepareSteps(t, site, 'sleep 600')
  const { building, abort } = await beginBuild(builder, steps)
  const stepImageIds = stepImages(steps.lines)
  const user = await site.engine.docker.createContainer({ Image: stepImageIds[1]! })
  abort()
  await assert.rejects(building, /^Error: canceled$/)
  assert.equal((await existing(site, stepImageIds)).length, 2)
  await user.remove()

  await builder.build(prepareSteps(t, site, 'true').request)

  assert.deepEqual(await existing(site, stepImageIds), [])
})

long('output that imitates the engine does not get a foreign image removed', async (t) => {
  const site = await openDockerSite(t)
  const { docker } = site.engine
  const container = await docker.createContainer({ Image: site.images.node })
  t.after(() => container.remove())
  const { Id }: { Id: string } = await container.commit({ comment: site.owner.prefix })
  t.after(() =>
    acceptStatus(
      404,
      site.engine.call('clean up', () => docker.getImage(Id).remove()),
    ),
  )
  const short = Id.replace('sha256:', '').slice(0, 12)
  const lie = `echo 'Step 3/3 : COPY a b'; sleep 1; echo ' ---> ${short}'; sleep 1; exit 3`
  const files = { Dockerfile: `FROM ${site.images.busybox}\nRUN ${lie}` }
  const { request, lines } = prepareBuild(t, site.owner, files)

  await assert.rejects(drivers.classic(site).build(request), { code: 'build_failed' })

  assert.ok(lines.includes(`system  ---> ${short}`), lines.join('\n'))
  assert.deepEqual(await existing(site, [Id]), [Id])
})

long('an image of any kind of step is removed when the build fails', async (t) => {
  const site = await openDockerSite(t)
  const steps = ['WORKDIR /a', 'COPY Dockerfile .', 'ENV A=1', 'USER 1', 'CMD ["a"]', 'RUN exit 3']
  for (const base of [site.images.busybox, 'scratch']) {
    const Dockerfile = [`FROM ${base}`, 'COPY Dockerfile /', `LABEL a=${site.owner.prefix}`, ...steps].join(
      '\n',
    )
    const { request, lines } = prepareBuild(t, site.owner, { Dockerfile })

    await assert.rejects(drivers.classic(site).build(request), { code: 'build_failed' })

    const reported = lines.flatMap((line) => /^system {2}---> (\w{12})$/.exec(line)?.[1] ?? [])
    const stepImageIds = base === 'scratch' ? reported : reported.slice(1)
    assert.equal(stepImageIds.length, 7)
    assert.deepEqual(await existing(site, stepImageIds), [])
  }
})

/** Without a guard: the engine alone limits each step, as it does for a daemon that is not root. */
function limited({ engine, owner }: DockerSite): Builder {
  const guard = openBuildGuard('tcp://elsewhere', owner, { memoryMb: 32, cpus: 0.5, pids: null })
  return createClassic(engine, { ...unlimited(owner), guard })
}

/** Two steps that make an image each, then `last`. */
function prepareSteps(t: TestContext, { owner, images }: DockerSite, last: string) {
  const Dockerfile = `FROM ${images.busybox}\nRUN echo ${owner.prefix} ${last}\nENV A=1\nRUN ${last}`
  return prepareBuild(t, owner, { Dockerfile })
}

type Prepared = ReturnType<typeof prepareBuild>

/** Begins a build, and waits until its last step runs. */
async function beginBuild(builder: Builder, { request, lines }: Prepared) {
  const abort = new AbortController()
  const building = builder.build({ ...request, signal: abort.signal })
  building.catch(() => {})
  await until('its last step', () => lines.filter((line) => line.includes('Running in')).length === 3)
  return { building, abort: () => abort.abort(new Error('canceled')) }
}

/** The short ids of what the steps made; the base image comes first. */
function stepImages(lines: string[]): string[] {
  return lines.flatMap((line) => /^system {2}---> (\w{12})$/.exec(line)?.[1] ?? []).slice(1)
}

async function existing({ engine }: DockerSite, ids: string[]): Promise<string[]> {
  const found = await Promise.all(
    ids.map((id) => orNull(engine.call('look', () => engine.docker.getImage(id).inspect()))),
  )
  return found.flatMap((info) => info?.Id ?? [])
}

/** What was made from a container, under whatever name. */
async function listImages({ engine }: DockerSite, container: string): Promise<string[]> {
  const all = await engine.docker.listImages({ all: true })
  const details = await Promise.all(
    all.map(({ Id }) => orNull(engine.call('look', () => engine.docker.getImage(Id).inspect()))),
  )
  return details.flatMap((info) => (info?.Container === container ? info.Id : []))
}
