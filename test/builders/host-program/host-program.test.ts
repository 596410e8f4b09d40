// Builders that are programs of the host: what they are called with, and how they can fail.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { BuildJob } from '../../../src/builders/builder.ts'
import { hostPrograms } from '../../../src/builders/host-program/host-program.ts'
import type { BuildRequest } from '../../../src/docker/build/build.ts'
import { until } from '../../support/daemon/service.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const [railpack] = hostPrograms

/** A job with a program of that script on the PATH. */
function openJob(t: TestContext, script: string, env: Record<string, string> = {}) {
  const directory = temporaryDirectory(t)
  const path = process.env.PATH
  t.after(() => (process.env.PATH = path))
  process.env.PATH = `${directory}:${path}`
  writeFileSync(join(directory, 'railpack'), `#!/bin/sh\ncd ${directory}\n${script}\n`)
  chmodSync(join(directory, 'railpack'), 0o755)
  const lines: string[] = []
  const built: Pick<BuildRequest, 'tag' | 'labels'>[] = []
  const stop = new AbortController()
  const job = {
    deployId: `dep-${directory}`,
    settings: { root_dir: null, build_command: 'make', builder: 'railpack' },
    directory,
    checkout: directory,
    image: { tag: 'shop:1', labels: { kind: 'image' } },
    tree: { tag: 'shop:1-tree', labels: {} },
    openInputs: async () => ({ secrets: Object.entries(env).map(([key, value]) => ({ key, value })) }),
    driver: { build: async ({ tag, labels }: BuildRequest) => void built.push({ tag, labels }) },
    log: { info: (line: string) => lines.push(line), build: (_: string, line: string) => lines.push(line) },
    logger: { info: () => {} },
    engine: { host: 'unix:///engine.sock' },
    registries: [],
    signal: stop.signal,
  } as unknown as BuildJob
  return { job, directory, lines, built, stop }
}

test('the program builds an intermediate image, and the deploy’s image is that with labels', async (t) => {
  const { job, directory, lines, built } = openJob(t, 'echo "$@"; echo "$TOKEN" > token', {
    TOKEN: 'secret',
    LD_PRELOAD: '/x.so',
  })
  await railpack!.build(job)

  const args = 'build --name shop:1-tree --progress plain --show-plan --env TOKEN --build-cmd make'
  assert.ok(lines.includes(`${args} ${directory}`), lines.join('\n'))
  assert.ok(lines.includes('railpack does not get LD_PRELOAD, which would change the program itself'))
  assert.equal(readFileSync(join(directory, 'token'), 'utf8'), 'secret\n')
  assert.deepEqual(built, [{ tag: 'shop:1', labels: { kind: 'image' } }])
})

test('a program that fails or is not there fails the build', async (t) => {
  const failing = openJob(t, 'exit 3').job
  await assert.rejects(railpack!.build(failing), /railpack exited with code 3/)
  process.env.PATH = '/nowhere'
  await assert.rejects(railpack!.build(failing), /railpack is not on the PATH of berthd/)
})

test('a cancel ends the program and what it started', async (t) => {
  const { job, directory, stop } = openJob(t, 'sleep 300 & echo $! > pid; wait')
  const build = railpack!.build(job)
  await until('the program', async () => existsSync(join(directory, 'pid')))
  stop.abort(new Error('canceled'))

  await assert.rejects(build, /canceled/)
  const pid = Number(readFileSync(join(directory, 'pid'), 'utf8'))
  await until('its end', async () => !existsSync(`/proc/${pid}`))
})

test('the program inherits little, and has a home of its own', async (t) => {
  const { job, directory } = openJob(t, 'env > env; touch ~/here "$TMPDIR/there"', {
    BERTH_TOKEN: 'y',
    A: 'b',
  })
  const own = { BERTH_TOKEN: 'x', DOCKER_CONFIG: '/x', SECRET: 'x', XDG_CACHE_HOME: '/x', TMPDIR: '/x' }
  for (const [key, value] of Object.entries(own)) {
    const former = process.env[key]
    t.after(() => {
      if (former === undefined) delete process.env[key]
      else process.env[key] = former
    })
    process.env[key] = value
  }

  await railpack!.build(job)

  const names = readFileSync(join(directory, 'env'), 'utf8').match(/^\w+(?==)/gm)!
  const given = ['A', 'BERTH_GIT_MARKER', 'DOCKER_HOST', 'HOME', 'NO_COLOR', 'PACK_HOME', 'PATH', 'TMPDIR']
  const byShell = ['BUILDKIT_HOST', 'PWD', 'OLDPWD', 'SHLVL', '_']
  assert.deepEqual(names.filter((name) => !byShell.includes(name)).sort(), given)
  for (const file of ['here', 'there']) assert.ok(existsSync(join(directory, 'home', file)), file)
})

test('what a killed daemon left of the same build ends first, with what it started', async (t) => {
  const { job, directory } = openJob(t, 'true')
  const program = join(directory, 'left')
  writeFileSync(program, '#!/bin/sh\nenv -i sleep 300 & echo $! > pid; wait\n', { mode: 0o755 })
  const env = { PATH: process.env.PATH, BERTH_GIT_MARKER: job.deployId }
  const left = spawn(program, { cwd: directory, detached: true, env, stdio: 'ignore' })
  await until('the program', async () => existsSync(join(directory, 'pid')))

  await railpack!.build(job)

  await until('the end of the program', async () => left.signalCode !== null)
  const pid = Number(readFileSync(join(directory, 'pid'), 'utf8'))
  await until('its end', async () => !existsSync(`/proc/${pid}`))
})
