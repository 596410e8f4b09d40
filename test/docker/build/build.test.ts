// What every builder promises, tried on each of them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { whenBuildsIdle } from '../../../src/docker/build/build.ts'
import type { Engine } from '../../../src/docker/engine/client.ts'
import { imageName } from '../../../src/docker/engine/names.ts'
import { inspectImage, listImages } from '../../../src/docker/images/images.ts'
import { drivers, openBuildSite, prepareBuild } from '../../support/docker/build-site.ts'
import { until } from '../../support/docker/docker-site.ts'
import { openEngineProxy } from '../../support/docker/engine-proxy.ts'
import { sized } from '../../support/system/drill-size.ts'
import { findProcesses } from '../../support/system/processes.ts'

const entries = Object.entries(drivers)
const testedDrivers = sized(entries.slice(0, 1), entries)

for (const [name, driver] of testedDrivers)
  describe(`builds by ${name}`, () => {
    test('an image is built from a Dockerfile in a subfolder, with labels and arguments', async (t) => {
      const site = await openBuildSite(t, driver)
      const { request, lines } = prepareBuild(t, site.owner, {
        'docker/web.Dockerfile': `FROM ${site.images.busybox}
      ARG GREETING
      COPY . /app
      RUN echo "$GREETING" > /app/greeting
      EXPOSE 8080
      WORKDIR /app
      CMD ["sh", "-c", "ls /app; cat /app/greeting; sleep 600"]`,
        'docker/web.Dockerfile.dockerignore': 'docker\nsecret',
        'a.txt': '',
        secret: '',
      })

      const { imageId } = await site.builder.build({
        ...request,
        dockerfile: 'docker/web.Dockerfile',
        buildArgs: { GREETING: 'hello' },
        labels: { 'berth.service': 'web', 'berth.id': 'dep-one' },
      })

      const info = await site.engine.docker.getImage(request.tag).inspect()
      assert.equal(info.Id, imageId)
      const { 'berth.service': service, 'berth.id': id } = info.Config.Labels
      assert.deepEqual([service, id], ['web', 'dep-one'])
      const { name } = await site.instances.ensure(await site.spec({ image: request.tag, command: null }))
      const output = await until('the files', async () => {
        const tail = await site.instances.tail(name, 10)
        return tail.length > 3 && tail.map(({ line }) => line)
      })
      assert.deepEqual(output, ['a.txt', 'docker', 'greeting', 'hello'])
      assert.ok(lines.includes('system COPY . /app'), lines.join('\n'))
    })

    test('a failed build names the command and its exit code, after its output', async (t) => {
      const site = await openBuildSite(t, driver)
      const { request, lines } = prepareBuild(t, site.owner, {
        Dockerfile: `FROM ${site.images.busybox}\nRUN echo "cannot find module" >&2 && exit 3`,
      })

      await assert.rejects(site.builder.build(request), {
        code: 'build_failed',
        message: 'RUN echo "cannot find module" >&2 && exit 3 exited with code 3',
      })

      assert.ok(lines.includes('stderr cannot find module'), lines.join('\n'))
      assert.match(lines.at(-1)!, /^system ERROR: /)
      assert.equal(await inspectImage(site.engine, request.tag), null)
    })

    test('a Dockerfile error is reported in one line', async (t) => {
      const site = await openBuildSite(t, driver)
      const messageOf = async (files: Record<string, string>) => {
        const { request } = prepareBuild(t, site.owner, files)
        return site.builder.build(request).then(
          () => 'it was built',
          ({ code, message }) => `${code}: ${message}`,
        )
      }

      assert.equal(await messageOf({}), "build_failed: the source has no file 'Dockerfile'")
      assert.match(
        await messageOf({ Dockerfile: 'FORM x' }),
        /^build_failed: dockerfile parse error.*unknown instruction: FORM$/i,
      )
      assert.equal(
        await messageOf({ Dockerfile: `FROM ${site.images.busybox}\nCOPY nothing /x` }),
        'build_failed: COPY nothing /x: there is no nothing in the build context',
      )
    })

    test('an aborted build leaves no process, no container and no image', async (t) => {
      const site = await openBuildSite(t, driver)
      const marker = `600.${Date.now()}`
      const { request } = prepareBuild(t, site.owner, {
        Dockerfile: `FROM ${site.images.busybox}\nRUN sleep ${marker}`,
      })
      const abort = new AbortController()

      const building = site.builder.build({ ...request, signal: abort.signal })
      await until('it sleeps', () => isAsleep(marker))
      abort.abort(new Error('canceled'))

      await assert.rejects(building, /^Error: canceled$/)
      await until('the process is gone', async () => !(await isAsleep(marker)))
      assert.equal(await inspectImage(site.engine, request.tag), null)
      const running = () => containersRunning(site.engine, marker)
      await until('the engine to remove the container', async () => (await running()).length === 0)
    })

    test('a build that is already aborted does not start', async (t) => {
      const site = await openBuildSite(t, driver)
      const { request } = prepareBuild(t, site.owner, { Dockerfile: `FROM ${site.images.busybox}` })

      const building = site.builder.build({ ...request, signal: AbortSignal.abort() })

      await assert.rejects(building, { name: 'AbortError' })
      assert.deepEqual(await listImages(site.engine, site.owner), [])
    })

    test('an engine that dies during a build is unavailable, and the build did not fail', async (t) => {
      const site = await openBuildSite(t, driver)
      const proxy = await openEngineProxy(t)
      const marker = `600.${Date.now()}`
      const { request } = prepareBuild(t, site.owner, {
        Dockerfile: `FROM ${site.images.busybox}\nRUN sleep ${marker}`,
      })

      const building = driver(site, proxy.engine).build(request)
      await until('it sleeps', () => isAsleep(marker))
      proxy.cut()

      await assert.rejects(building, { code: 'docker_unavailable' })
      await until('the process is gone', async () => !(await isAsleep(marker)))
    })

    test('a build without cache runs its commands again; one with cache reports cached steps', async (t) => {
      const site = await openBuildSite(t, driver)
      const Dockerfile = `FROM ${site.images.busybox}
    RUN echo ${site.owner.prefix} && cat /proc/sys/kernel/random/uuid > /id`
      const { request, lines } = prepareBuild(t, site.owner, { Dockerfile })
      const builder = site.builder

      const first = await builder.build(request)
      const cached = await builder.build(request)
      const linesOfCached = lines.splice(0)
      const fresh = await builder.build({
        ...request,
        tag: imageName(site.owner, 'web', 'dep-two'),
        noCache: true,
      })

      assert.equal(cached.imageId, first.imageId)
      assert.notEqual(fresh.imageId, first.imageId)
      assert.ok(linesOfCached.some((line) => /^system (CACHED| ---> Using cache)$/.test(line)))
    })
  })

async function isAsleep(marker: string): Promise<boolean> {
  return (await findProcesses(`sleep ${marker}`)).length > 0
}

async function containersRunning({ docker }: Engine, command: string): Promise<string[]> {
  const containers = await docker.listContainers({ all: true })
  return containers.filter(({ Command }) => Command.includes(command)).map(({ Id }) => Id)
}

for (const [name, driver] of testedDrivers)
  describe(`stages by ${name}`, () => {
    test('the requested stage is built, otherwise the last one', async (t) => {
      const site = await openBuildSite(t, driver)
      const { request } = prepareBuild(t, site.owner, {
        Dockerfile: `FROM ${site.images.busybox} AS Builder
ENV STAGE=builder
FROM builder AS dev-envs
ENV STAGE=dev`,
      })
      const stageOf = async (target: string | null) => {
        const { imageId } = await site.builder.build({ ...request, target })
        const { Config } = await site.engine.docker.getImage(imageId).inspect()
        return Config.Env.find((one) => one.startsWith('STAGE='))
      }

      assert.equal(await stageOf('builder'), 'STAGE=builder')
      assert.equal(await stageOf(null), 'STAGE=dev')
    })

    test('an unknown stage fails the build with a list of the stages', async (t) => {
      const site = await openBuildSite(t, driver)
      const from = `FROM ${site.images.busybox}`
      const named = prepareBuild(t, site.owner, { Dockerfile: `${from} AS builder\n${from} AS dev-envs` })
      const nameless = prepareBuild(t, site.owner, { Dockerfile: `${from}\nRUN exit 1` })

      await assert.rejects(site.builder.build({ ...named.request, target: 'prod' }), {
        code: 'build_failed',
        message: "the Dockerfile has no stage 'prod' (--build-target): its stages are builder, dev-envs",
      })
      await assert.rejects(site.builder.build({ ...nameless.request, target: 'x' }), {
        message: /no stage 'x' \(--build-target\): its stages have no names \(FROM image AS name\)$/,
      })
    })
  })

test('the work runs before the first build and after the last one, never during one', async () => {
  const events: string[] = []
  const run = whenBuildsIdle(async () => {
    events.push('work begins')
    await Promise.resolve()
    events.push('work ends')
  })
  const ends = new Map<string, () => void>()
  const begin = (name: string) =>
    run(async () => {
      events.push(`${name} begins`)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      events.push(`${name} ends`)
    })

  const [first, second] = [begin('first'), begin('second')]
  await turns()
  ends.get('first')?.()
  await first
  ends.get('second')?.()
  await second

  const work = ['work begins', 'work ends']
  assert.deepEqual(events, [...work, 'first begins', 'second begins', 'first ends', 'second ends', ...work])
})

test('a build that arrives during the work waits for it', async () => {
  const events: string[] = []
  let finish = () => {}
  const run = whenBuildsIdle(async () => {
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    events.push('work')
  })

  const building = run(async () => void events.push('build'))
  await turns()
  const before = [...events]
  finish()
  await turns()
  finish()
  await building

  assert.deepEqual(before, [])
  assert.deepEqual(events, ['work', 'build', 'work'])
})

test('failed work does not fail a build, and a build failure is not hidden', async () => {
  let attempts = 0
  const run = whenBuildsIdle(async () => {
    attempts++
    throw new Error('the work failed')
  })

  assert.equal(await run(async () => 'image'), 'image')
  await assert.rejects(
    run(() => Promise.reject(new Error('the build failed'))),
    /the build failed/,
  )
  assert.equal(attempts, 4)
})

/** Everything that waits for nothing but its turn has had it afterwards. */
function turns(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
