// Bombs in a Dockerfile, with each builder. Each one waits until its limits are in force, and ends by itself.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { builderOptions } from '../../../src/docker/build/build.ts'
import { createClassic } from '../../../src/docker/build/build-classic.ts'
import type { BuildLimits } from '../../../src/docker/build/build-guard.ts'
import { openBuildGuard } from '../../../src/docker/build/build-guard.ts'
import { createBuildKit } from '../../../src/docker/build/build-kit.ts'
import { killOrphans } from '../../../src/docker/build/build-steps.ts'
import { buildCgroup, buildHost, type Owner, ownerLabels } from '../../../src/docker/engine/names.ts'
import { prepareBuild } from '../../support/docker/build-site.ts'
import { type DockerSite, openDockerSite, testOwner, until } from '../../support/docker/docker-site.ts'
import { installPackages } from '../../support/system/apt.ts'
import { hasCommand } from '../../support/system/command.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { long } from '../../support/system/drill-size.ts'
import { findProcesses } from '../../support/system/processes.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root'
const builders = { buildkit: createBuildKit, classic: createClassic }
type Name = keyof typeof builders

const someLimits = { memoryMb: 64, cpus: 0.5, pids: 64 }

for (const name of Object.keys(builders) as Name[]) {
  const testBuild = name === 'buildkit' ? test : long
  testBuild(
    `${name}: a step that allocates without bound is killed, and the limit is named`,
    {
      skip,
    },
    async (t) => {
      const { fails } = await openLimited(t, name, someLimits)

      const message = await fails('timeout 20 tail /dev/zero')

      assert.match(message, / at the memory limit of builds, 64 MiB \(--build-memory-limit\)$/)
    },
  )

  testBuild(
    `${name}: a step that forks without bound stays below the limit, which is named`,
    {
      skip,
    },
    async (t) => {
      const { fails, read } = await openLimited(t, name, someLimits)

      const message = await fails('b() { b | b & }; b; sleep 5; exit 3')

      assert.match(message, /builds reached their limit of 64 processes \(--build-pids-limit\)$/)
      assert.ok(Number(read('pids', 'pids.peak')) <= 64, read('pids', 'pids.peak'))
    },
  )

  testBuild(
    `${name}: a step is the first process killed without memory, and gets only its share of CPU`,
    {
      skip,
    },
    async (t) => {
      const { build, read } = await openLimited(t, name, someLimits)

      const spin = 'time -p timeout 3 sh -c "while :; do :; done" || true'
      const lines = await build(`cat /proc/self/oom_score_adj; ${spin}`)

      assert.ok(lines.includes('stdout 1000'), lines.join('\n'))
      const seconds = (kind: string) =>
        Number(
          lines
            .find((line) => line.includes(`${kind} `))
            ?.split(' ')
            .at(-1),
        )
      assert.ok(seconds('user') + seconds('sys') < seconds('real') * 0.65, lines.join('\n'))
      assert.equal(read('cpu', 'cpu.shares').trim(), '256')
    },
  )
}

test('what a killed engine leaves of our builds is ended, and nothing of others', { skip }, async (t) => {
  const { engine, images, owner } = await openDockerSite(t)
  const start = async (of: Owner) => {
    const seconds = `600.${randomInt(1e9)}`
    const container = await engine.docker.createContainer({
      Image: images.busybox,
      Cmd: ['sleep', seconds],
      Labels: ownerLabels(owner),
      HostConfig: { ExtraHosts: [`${buildHost(of)}:0.0.0.0`] },
    })
    await container.start()
    await until('its process', async () => (await findProcesses(`sleep ${seconds}`)).length > 0)
    return container
  }
  const [ours, foreign] = [await start(owner), await start({ ...owner, serverId: 'another' })]

  await killOrphans(owner)

  assert.equal((await ours.wait()).StatusCode, 137)
  assert.equal((await foreign.inspect()).State.Running, true)
})

test('a daemon that is not root gets the limits from berth-builds, which ends after the builds', {
  skip,
}, async (t) => {
  const { socket, ended } = await launchBuilds(t)
  const { build, fails, read } = await openLimited(t, 'buildkit', someLimits, { isRoot: false, socket })

  const fork = await fails('b() { b | b & }; b; sleep 5; exit 3')
  const lines = await build('cat /proc/self/oom_score_adj')

  assert.match(fork, /builds reached their limit of 64 processes \(--build-pids-limit\)$/)
  assert.ok(lines.includes('stdout 1000'), lines.join('\n'))
  assert.equal(read('cpu', 'cpu.shares').trim(), '256')
  assert.deepEqual(await ended, [0, null])
})

test('a build that finds berth-builds as it ends asks the next one', async (t) => {
  const socket = join(temporaryDirectory(t), 'builds.sock')
  const asked: string[] = []
  // With the question unread, the end of the first connection is a reset.
  const server = createServer({ pauseOnConnect: true }, (connection) => {
    if (asked.push('once') === 1) return setTimeout(() => connection.destroy(), 100)
    connection.resume().write(`${JSON.stringify({ reason: null })}\n`)
  }).listen(socket)
  t.after(() => server.close())
  const guard = openBuildGuard('unix:///', testOwner(), someLimits, { isRoot: false, socket })

  await guard.run(async () => {})

  assert.deepEqual([asked.length, guard.notEnforcedReason], [2, null])
})

for (const [name, answer] of Object.entries({
  ends: (connection: Socket) => connection.destroy(),
  'is silent': () => undefined,
}))
  test(`when berth-builds ${name}, a build runs, and the limits are not in force`, {
    skip,
  }, async (t) => {
    const socket = join(temporaryDirectory(t), 'builds.sock')
    const server = createServer(answer).listen(socket)
    t.after(() => server.close())
    const host = { isRoot: false, socket, answerMs: 500 }
    const { build, guard } = await openLimited(t, 'buildkit', someLimits, host, false)

    await build(':')

    assert.equal(guard.notEnforcedReason, 'berth-builds.service of systemd does not answer')
  })

/** As systemd does: it listens, and starts the program with the first connection. */
async function launchBuilds(t: TestContext) {
  if (!hasCommand('systemd-socket-activate')) await installPackages(['systemd'])
  const socket = join(temporaryDirectory(t), 'builds.sock')
  const home = fileURLToPath(new URL('../../..', import.meta.url))
  const program = [process.execPath, '--import', 'tsx', 'src/berth-builds.ts']
  const child = spawn('systemd-socket-activate', ['-l', socket, ...program], { cwd: home, stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  await until('its socket', async () => existsSync(socket))
  return { socket, ended: once(child, 'exit') }
}

async function openLimited(
  t: TestContext,
  name: Name,
  limits: BuildLimits,
  host?: { isRoot: boolean; socket: string; answerMs?: number },
  isLimited = true,
) {
  const site = await openDockerSite(t)
  const { engine, owner } = site
  const guard = openBuildGuard('unix:///', owner, limits, host)
  assert.equal(guard.notEnforcedReason, null)
  t.after(() => guard.close())
  const builder = builders[name](engine, builderOptions(owner, guard))
  const group = buildCgroup(owner)
  return {
    guard,
    read: (controller: string, file: string) =>
      readFileSync(`/sys/fs/cgroup/${controller}/${group}/${file}`, 'utf8'),
    async build(command: string): Promise<string[]> {
      const prepared = prepareStep(t, site, isLimited ? group : '', command)
      await builder.build(prepared.request)
      return prepared.lines
    },
    async fails(command: string): Promise<string> {
      const failure = await builder.build(prepareStep(t, site, group, command).request).then(
        () => assert.fail('the build went well'),
        (error: Error & { code: string }) => error,
      )
      assert.equal(failure.code, 'build_failed', failure.message)
      return failure.message
    },
  }
}

/** The command, with a bound of its own on memory, once the step is in the control group. */
function prepareStep(t: TestContext, { owner, images }: DockerSite, group: string, command: string) {
  const isIn = `cat /proc/self/cgroup | grep memory | grep -q /${group}`
  const wait = `n=0; until ${isIn}; do n=$((n+1)); [ $n -lt 100 ] || exit 99; sleep 0.1; done`
  const Dockerfile = `FROM ${images.busybox}\nRUN : ${owner.serverId}; ulimit -v 1000000; ${wait}; ${command}`
  return prepareBuild(t, owner, { Dockerfile })
}
