// Tools on the real engine: what goes in and comes out is whole, and of none of them anything stays.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type OneShotSpec,
  type OneShotStreams,
  openOneShotContainers,
} from '../../../src/docker/containers/one-shot-containers.ts'
import { Failure } from '../../../src/errors.ts'
import { openDockerSite, until } from '../../support/docker/docker-site.ts'

const mebibyte = 1024 * 1024
const neverAborted = new AbortController().signal

async function openSite(t: TestContext) {
  const { engine, owner, images, instances, spec } = await openDockerSite(t)
  const tools = openOneShotContainers(engine, owner)
  const name = `${owner.prefix}-tool-bak-1`
  const toolSpec = (script: string, changes: Partial<OneShotSpec> = {}): OneShotSpec => ({
    id: 'bak-1',
    image: images.busybox,
    argv: ['sh', '-c', script],
    env: {},
    networkOf: null,
    memoryLimitMb: 32,
    cpuLimit: 1,
    pidsLimit: 64,
    ...changes,
  })
  const run = (
    script: string,
    streams: OneShotStreams = {},
    changes: Partial<OneShotSpec> = {},
    signal = neverAborted,
  ) => tools.run(toolSpec(script, changes), streams, signal)
  const containers = async () => {
    const filters = { label: [`berth.instance=${owner.prefix}`, 'berth.kind=tool'] }
    const found = await engine.docker.listContainers({ all: true, filters })
    return found.map(({ Names }) => Names[0]!.slice(1))
  }
  const inspected = () => engine.docker.getContainer(name).inspect()
  const running = () => until('it to run', async () => (await inspected().catch(() => null))?.State.Running)
  return { engine, instances, spec, tools, toolSpec, run, containers, inspected, running, name }
}

async function* zeros(sizeBytes: number, onPiece: () => void = () => undefined) {
  const piece = Buffer.alloc(64 * 1024)
  for (let sent = 0; sent < sizeBytes; sent += piece.length) {
    onPiece()
    yield piece
  }
}

test('an ended container reports its exit and last output, and leaves nothing', async (t) => {
  const { run, containers } = await openSite(t)

  const well = await run('echo out; echo what >&2')
  const badly = await run('i=0; while [ $i -lt 2000 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 7')

  assert.deepEqual(well, { exitCode: 0, isOutOfMemory: false, stdout: 'out\n', stderr: 'what\n' })
  const { stderr, ...rest } = badly
  assert.deepEqual(rest, { exitCode: 7, isOutOfMemory: false, stdout: '' })
  assert.equal(stderr.length, 8 * 1024)
  assert.match(stderr, /line 1998\nline 1999\n$/)
  assert.deepEqual(await containers(), [])
})

test('output passes through whole and in order, at the pace of its reader', async (t) => {
  const { run } = await openSite(t)
  let takenBytes = 0
  let open = 0
  const output = async (piece: Uint8Array) => {
    assert.equal(++open, 1)
    for (let at = 0; at < piece.length; at++)
      if (piece[at] !== '1234567\n'.charCodeAt((takenBytes + at) % 8))
        assert.fail(`wrong at ${takenBytes + at}`)
    takenBytes += piece.length
    await new Promise((resolve) => setImmediate(resolve))
    open--
  }

  const { exitCode, stdout } = await run('yes 1234567 | head -c 20000000', { output })

  assert.deepEqual([exitCode, stdout, takenBytes], [0, '', 20_000_000])
})

test('a process that ends before reading its input reports its own error', async (t) => {
  const { run, containers } = await openSite(t)
  let isEnded = false
  async function* endless() {
    try {
      for (;;) yield Buffer.alloc(64 * 1024)
    } finally {
      isEnded = true
    }
  }

  const outcome = await run('head -c 10 > /dev/null; echo enough >&2; exit 3', { input: endless() })

  assert.deepEqual(outcome, { exitCode: 3, isOutOfMemory: false, stdout: '', stderr: 'enough\n' })
  assert.ok(isEnded, 'the source was let go')
  assert.deepEqual(await containers(), [])
})

test('an error of the output reader or the input source ends the container with that error', async (t) => {
  const { run, containers } = await openSite(t)
  const full = new Failure('insufficient_storage', 'the disk is full')
  async function* broken() {
    yield Buffer.from('some')
    throw full
  }

  await assert.rejects(run('yes', { output: () => Promise.reject(full) }), full)
  await assert.rejects(run('cat > /dev/null; sleep 600', { input: broken() }), full)

  assert.deepEqual(await containers(), [])
})

test('an abort ends the container immediately and leaves nothing', async (t) => {
  const { run, running, containers } = await openSite(t)
  const ending = new AbortController()
  const streams = { input: zeros(Number.POSITIVE_INFINITY), output: async () => undefined }
  const work = run('cat', streams, {}, ending.signal)
  const refused = assert.rejects(work, /no longer wanted/)
  await running()

  ending.abort(new Failure('canceled', 'no longer wanted'))

  await refused
  assert.deepEqual(await containers(), [])
})

test('a container left by a crash is replaced by the next one, or removed', async (t) => {
  const { engine, run, running, tools, inspected, containers, name } = await openSite(t)
  const lost = new AbortController()
  const first = run('sleep 600', {}, {}, lost.signal).catch(() => 'gone')
  await running()
  const { Id: firstId } = await inspected()

  const second = run('sleep 600').catch(() => 'removed')
  await until('another to run', async () => {
    const found = await inspected().catch(() => null)
    return found?.State.Running && found.Id !== firstId
  })
  assert.deepEqual(await containers(), [name])
  await tools.remove('bak-1')
  await tools.remove('bak-1')

  await Promise.all([first, second])
  assert.deepEqual(await containers(), [])
  await assert.rejects(engine.docker.getContainer(firstId).inspect(), { statusCode: 404 })
})

test('its secrets are in its environment, its input is closed, and it has no network', async (t) => {
  const { run, inspected, running } = await openSite(t)
  const ending = new AbortController()
  const env = { PGPASSWORD: 's3cret word' }

  const { stdout } = await run('echo "$PGPASSWORD"; cat; ls /sys/class/net', {}, { env })
  const lasting = run('sleep 600', {}, { env }, ending.signal).catch(() => undefined)
  await running()
  const { Config, HostConfig, Args, Path } = await inspected()
  ending.abort(new Error('enough'))
  await lasting

  assert.equal(stdout, 's3cret word\nlo\n')
  assert.doesNotMatch(JSON.stringify([Path, Args, Config.Cmd, Config.Entrypoint, Config.Labels]), /s3cret/)
  assert.deepEqual(
    [HostConfig.NetworkMode, HostConfig.Memory, HostConfig.LogConfig?.Type, HostConfig.SecurityOpt],
    ['none', 32 * mebibyte, 'none', ['no-new-privileges:true']],
  )
})

test('attached to a container it shares its network, and otherwise it has none', async (t) => {
  const { run, instances, spec } = await openSite(t)
  const server = await spec({ command: 'exec nc -l -p 5432' })
  await instances.ensure(server)
  // 5432, as the kernel writes it.
  const look = 'for i in $(seq 100); do grep -q :1538 /proc/net/tcp* && exit 0; sleep 0.1; done; exit 1'

  const shared = await run(look, {}, { networkOf: server.name })
  const alone = await run('grep -q :1538 /proc/net/tcp*')

  assert.deepEqual([shared.exitCode, alone.exitCode], [0, 1])
  await assert.rejects(run('true', {}, { networkOf: `${server.name}-gone` }), { code: 'docker_error' })
})
