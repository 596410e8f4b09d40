import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type BuildRequest, createBuildKit } from '../../src/docker/build.ts'
import { inspectImage, listImages } from '../../src/docker/images.ts'
import { imageName } from '../../src/docker/names.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { type DockerSite, openDockerSite, until } from '../support/docker-site.ts'
import { openEngineProxy } from '../support/engine-proxy.ts'
import { writeTree } from '../support/write-tree.ts'

test('an image is built from a Dockerfile in a subfolder, with labels and arguments', async (t) => {
  const site = await openDockerSite(t)
  const { request, lines } = prepare(t, site, {
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

  const { imageId } = await createBuildKit(site.engine).build({
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
    return tail.length > 2 && tail.map(({ line }) => line)
  })
  assert.deepEqual(output, ['a.txt', 'docker', 'greeting', 'hello'])
  assert.ok(
    lines.some((line) => /^system #\d+ \[2\/4\] COPY \. \/app$/.test(line)),
    lines.join('\n'),
  )
})

test('a build that fails says which command failed and how, after its output', async (t) => {
  const site = await openDockerSite(t)
  const { request, lines } = prepare(t, site, {
    Dockerfile: `FROM ${site.images.busybox}\nRUN echo "cannot find module" >&2 && exit 3`,
  })

  await assert.rejects(createBuildKit(site.engine).build(request), {
    code: 'build_failed',
    message: 'RUN echo "cannot find module" >&2 && exit 3 exited with code 3',
  })

  assert.ok(
    lines.some((line) => /^stderr #\d+ \d\.\d{3} cannot find module$/.test(line)),
    lines.join('\n'),
  )
  assert.ok(
    lines.some((line) => /^system #\d+ ERROR: /.test(line)),
    lines.join('\n'),
  )
  assert.equal(await inspectImage(site.engine, request.tag), null)
})

test('what is wrong with a Dockerfile is told in one line', async (t) => {
  const site = await openDockerSite(t)
  const messageOf = async (files: Record<string, string>) => {
    const { request } = prepare(t, site, files)
    return createBuildKit(site.engine)
      .build(request)
      .then(
        () => 'it was built',
        ({ code, message }) => `${code}: ${message}`,
      )
  }

  assert.equal(await messageOf({}), "build_failed: the source has no file 'Dockerfile'")
  assert.match(
    await messageOf({ Dockerfile: 'FORM x' }),
    /^build_failed: dockerfile parse error.*unknown instruction: FORM$/i,
  )
  assert.match(
    await messageOf({ Dockerfile: `FROM ${site.images.busybox}\nCOPY nothing /x` }),
    /^build_failed: COPY nothing \/x: .*"\/nothing" not found$/,
  )
})

test('output comes while the command runs, line by line and in order', async (t) => {
  const site = await openDockerSite(t)
  const { request, lines } = prepare(t, site, {
    Dockerfile: `FROM ${site.images.busybox}
      RUN i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo "out $i"; done; sleep 600`,
  })
  const abort = new AbortController()

  const building = createBuildKit(site.engine).build({ ...request, signal: abort.signal })
  await until('the last line', () => lines.some((line) => line.endsWith('out 2000')))
  abort.abort()
  await assert.rejects(building, { name: 'AbortError' })

  const numbers = lines.flatMap((line) => /^stdout #\d+ \S+ out (\d+)$/.exec(line)?.[1] ?? [])
  assert.deepEqual(
    numbers,
    Array.from({ length: 2000 }, (_, at) => String(at + 1)),
  )
})

test('an aborted build leaves no process, no container and no image', async (t) => {
  const site = await openDockerSite(t)
  const marker = `600.${Date.now()}`
  const { request } = prepare(t, site, { Dockerfile: `FROM ${site.images.busybox}\nRUN sleep ${marker}` })
  const abort = new AbortController()

  const building = createBuildKit(site.engine).build({ ...request, signal: abort.signal })
  await until('it sleeps', () => processesOf(marker).length > 0)
  abort.abort(new Error('canceled'))

  await assert.rejects(building, /^Error: canceled$/)
  await until('the process is gone', () => processesOf(marker).length === 0)
  assert.equal(await inspectImage(site.engine, request.tag), null)
  const containers = await site.engine.docker.listContainers({ all: true })
  assert.deepEqual(
    containers.filter(({ Command }) => Command.includes(marker)),
    [],
  )
})

test('a build asked for after its abort is not begun', async (t) => {
  const site = await openDockerSite(t)
  const { request } = prepare(t, site, { Dockerfile: `FROM ${site.images.busybox}` })

  const building = createBuildKit(site.engine).build({ ...request, signal: AbortSignal.abort() })

  await assert.rejects(building, { name: 'AbortError' })
  assert.deepEqual(await listImages(site.engine, site.owner), [])
})

test('an engine that goes away during a build makes it unavailable, not failed', async (t) => {
  const site = await openDockerSite(t)
  const proxy = await openEngineProxy(t)
  const marker = `600.${Date.now()}`
  const { request } = prepare(t, site, { Dockerfile: `FROM ${site.images.busybox}\nRUN sleep ${marker}` })

  const building = createBuildKit(proxy.engine).build(request)
  await until('it sleeps', () => processesOf(marker).length > 0)
  proxy.cut()

  await assert.rejects(building, { code: 'docker_unavailable' })
  await until('the process is gone', () => processesOf(marker).length === 0)
})

test('a build without cache runs its commands again, one with cache says that it did not', async (t) => {
  const site = await openDockerSite(t)
  const Dockerfile = `FROM ${site.images.busybox}
    RUN echo ${site.owner.prefix} && cat /proc/sys/kernel/random/uuid > /id`
  const { request, lines } = prepare(t, site, { Dockerfile })
  const builder = createBuildKit(site.engine)

  const first = await builder.build(request)
  const cached = await builder.build(request)
  const linesOfCached = lines.splice(0)
  const fresh = await builder.build({ ...request, noCache: true })

  assert.equal(cached.imageId, first.imageId)
  assert.notEqual(fresh.imageId, first.imageId)
  assert.ok(linesOfCached.some((line) => /^system #\d+ CACHED$/.test(line)))
})

function prepare(t: TestContext, { owner }: DockerSite, files: Record<string, string>) {
  const contextDir = join(temporaryDirectory(t), 'source')
  writeTree(contextDir, files)
  const lines: string[] = []
  const request: BuildRequest = {
    contextDir,
    dockerfile: 'Dockerfile',
    tag: imageName(owner, 'web', 'dep-one'),
    labels: {},
    noCache: false,
    buildArgs: {},
    onLine: (stream, line) => lines.push(`${stream} ${line}`),
    signal: new AbortController().signal,
  }
  return { request, lines }
}

/** Of the whole machine: builds run outside of any container that could be listed. */
function processesOf(marker: string): string[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && argumentsOf(pid).includes(marker))
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}
