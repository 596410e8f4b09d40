// What BuildKit gets to know during a build only, and what must not stay of it anywhere.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { status } from '@grpc/grpc-js'
import { openBuildSession } from '../../../src/docker/build/build-session.ts'
import { drivers, openBuildSite, prepareBuild } from '../../support/docker/build-site.ts'
import { type DockerSite, until } from '../../support/docker/docker-site.ts'
import { openEngineProxy } from '../../support/docker/engine-proxy.ts'
import { unpackImage } from '../../support/docker/image-export.ts'
import { openSessionEngine } from '../../support/docker/session-engine.ts'
import { filesWith } from '../../support/storage/canary.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { long } from '../../support/system/drill-size.ts'

const { buildkit } = drivers
const isRoot = process.getuid?.() === 0

test('a step reads its secrets byte for byte, whatever they contain', async (t) => {
  const site = await openBuildSite(t, buildkit)
  const values = [' \n', '"\'`$HOME\\n\r\n\t', '🐈‍⬛ é\u0301 \u2028', randomText(64 * 1024), 'last\n\n']
  const secrets = values.map((value, at) => ({ key: `KEY_${at}`, value }))
  const mounts = secrets.map(({ key }) => `--mount=type=secret,required=true,id=${key}`).join(' ')
  const Dockerfile = `FROM ${site.images.busybox}\nRUN ${mounts} cd /run/secrets && sha256sum *`
  const { request, lines } = prepareBuild(t, site.owner, { Dockerfile })

  await site.builder.build({ ...request, secrets, noCache: true })

  const sums = lines.filter((line) => line.startsWith('stdout ')).map((line) => line.slice('stdout '.length))
  assert.deepEqual(
    sums,
    secrets.map(({ key, value }) => `${sha256(value)}  ${key}`),
  )
})

test('a secret appears nowhere in the image, history or log; an argument is in the history', async (t) => {
  const site = await openBuildSite(t, buildkit)
  const [secret, argument] = [`canary-secret-${randomText(12)}`, `canary-argument-${Date.now()}`]
  const { request, lines } = prepareUse(t, site, ': nothing more')

  const secrets = [{ key: 'TOKEN', value: secret }]
  await site.builder.build({ ...request, secrets, buildArgs: { CHANNEL: argument } })

  const image = await unpackImage(t, site.engine, request.tag)
  assert.ok(filesWith(image, argument).length >= 2, 'the search finds what is in a layer and in the history')
  assert.deepEqual(filesWith(image, secret), [])
  assert.ok(!lines.join('\n').includes(secret))
})

test("a secret is not in BuildKit's cache of its steps", {
  skip: isRoot ? false : 'needs root',
}, async (t) => {
  const site = await openBuildSite(t, buildkit)
  const [secret, step] = [`canary-secret-${randomText(12)}`, `canary-step-${Date.now()}`]
  const { request } = prepareUse(t, site, `: ${step}`)

  await site.builder.build({ ...request, secrets: [{ key: 'TOKEN', value: secret }] })

  const memory = await copyOfMemory(t, site)
  assert.notDeepEqual(filesWith(memory, step), [], 'the search finds the step')
  assert.deepEqual(filesWith(memory, secret), [])
})

test('an unset secret is named by the step that requires it, and absent for other steps', async (t) => {
  const site = await openBuildSite(t, buildkit)
  const build = (step: string) => {
    const { request } = prepareBuild(t, site.owner, { Dockerfile: `FROM ${site.images.busybox}\n${step}` })
    return site.builder.build({ ...request, secrets: [{ key: 'OTHER', value: 'x' }] })
  }

  await assert.rejects(build('RUN --mount=type=secret,id=TOKEN,required=true true'), {
    code: 'build_failed',
    message: 'RUN true: secret TOKEN not found',
  })
  await build('RUN --mount=type=secret,id=TOKEN test ! -e /run/secrets/TOKEN')
})

long('no connection to the engine stays open after a build, however it ended', async (t) => {
  const site = await openBuildSite(t, buildkit)
  const proxy = await openEngineProxy(t)
  const builder = buildkit(site, proxy.engine)
  const prepare = (step: string) =>
    prepareBuild(t, site.owner, { Dockerfile: `FROM ${site.images.busybox}\nRUN ${step}` })
  const { request, lines } = prepare('sleep 600')
  const abort = new AbortController()

  await builder.build(prepare('true').request)
  await until('none of a build that ended well', () => proxy.count() === 0)
  await assert.rejects(builder.build(prepare('exit 1').request))
  await until('none of a build that failed', () => proxy.count() === 0)
  const building = builder.build({ ...request, signal: abort.signal })
  await until('it sleeps', () => lines.includes('system RUN sleep 600'))
  const during = proxy.count()
  abort.abort()
  await assert.rejects(building)
  await until('none of a build that was aborted', () => proxy.count() === 0)

  assert.equal(during, 2, 'the build and its session')
})

test('a session that the engine closes is reported as lost, one that we close is not', async (t) => {
  const proxy = await openEngineProxy(t)
  const content = { secrets: [], registries: [] }
  const signal = new AbortController().signal
  const [lost, closed] = [
    await openBuildSession(proxy.engine, content, signal),
    await openBuildSession(proxy.engine, content, signal),
  ]
  let isLost = false
  closed.lost.catch(() => {
    isLost = true
  })

  closed.close()
  proxy.cut()

  await assert.rejects(lost.lost, { code: 'docker_unavailable' })
  assert.equal(isLost, false)
})

test('a newer engine that requests tokens gets none, and then gets credentials', async (t) => {
  const { engine, callSession } = await openSessionEngine(t)
  const registries = [{ host: 'docker.io', username: 'ada', password: 'pass' }]
  const content = { secrets: [], registries }
  const session = await openBuildSession(engine, content, new AbortController().signal)
  t.after(session.close)
  const auth = (method: string, host: string) =>
    callSession(`/moby.filesync.v1.Auth/${method}`, textField(1, host))

  for (const method of ['GetTokenAuthority', 'VerifyTokenAuthority', 'FetchToken']) {
    assert.equal((await auth(method, 'registry-1.docker.io')).status, status.UNIMPLEMENTED, method)
  }
  assert.deepEqual(await auth('Credentials', 'registry-1.docker.io'), {
    status: status.OK,
    message: Buffer.concat([textField(1, 'ada'), textField(2, 'pass')]),
  })
  assert.deepEqual(await auth('Credentials', 'ghcr.io'), { status: status.OK, message: Buffer.alloc(0) })
  const secret = await callSession('/moby.buildkit.secrets.v1.Secrets/GetSecret', textField(1, 'TOKEN'))
  assert.equal(secret.status, status.NOT_FOUND)
})

/** A field of a protobuf message, shorter than 128 bytes. */
function textField(number: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([number * 8 + 2, text.length]), Buffer.from(text)])
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Of code points from the whole range but NUL and halves of pairs; `size` counts them. */
function randomText(size: number): string {
  const numbers = new Uint32Array(randomBytes(size * 4).buffer.slice(0))
  const points = Array.from({ length: size }, (_, at) => 1 + ((numbers[at] ?? 0) % 0x10ffff))
  return points
    .map((point) => (point >= 0xd800 && point < 0xe000 ? '\n' : String.fromCodePoint(point)))
    .join('')
}

/** A step that reads the secret TOKEN and the argument CHANNEL, and then does something more. */
function prepareUse(t: TestContext, { owner, images }: DockerSite, more: string) {
  const use = 'wc -c < /run/secrets/TOKEN > /size && echo "$CHANNEL" > /channel'
  const mount = '--mount=type=secret,id=TOKEN,required=true'
  return prepareBuild(t, owner, {
    Dockerfile: `FROM ${images.busybox}\nARG CHANNEL\nRUN ${mount} ${use} && ${more}`,
  })
}

/** The databases of BuildKit on this machine. */
async function copyOfMemory(t: TestContext, { engine }: DockerSite): Promise<string> {
  const { DockerRootDir } = await engine.docker.info()
  const [from, to] = [join(DockerRootDir, 'buildkit'), temporaryDirectory(t)]
  const databases = readdirSync(from).filter((name) => name.endsWith('.db'))
  for (const name of databases) cpSync(join(from, name), join(to, name))
  return to
}
