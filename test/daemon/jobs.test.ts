// Job runs on a real engine: the output and exit of a command, and its environment.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import type { ContainerInspectInfo } from 'dockerode'
import {
  clearedJob,
  createWorker,
  findInstance,
  finishedJob,
  jobContainers,
  jobLog,
  openDocker,
  output,
  requestJob,
  runIn,
  runJob,
  runningContainer,
  sharedWorker,
} from '../support/daemon/jobs.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { pageApp } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { long } from '../support/system/drill-size.ts'

const docker = await openDocker()
const suite = daemonSuite()
const scope = fileScope()
const aWorker = sharedWorker(scope, suite, { disk_mount_path: '/data', memory_limit_mb: 24 })

test('a run has the output of its command in its log, and its outcome as the last line', async () => {
  const worker = await aWorker()
  const { api, daemon } = suite
  const requested = await requestJob(api, worker.name, { command: 'echo one; echo two >&2; echo three' })
  const { started_at, finished_at, created_at, revision: _, ...run } = await finishedJob(api, requested.id)

  assert.deepEqual(run, {
    id: requested.id,
    service_id: worker.id,
    deploy_id: worker.first.id,
    command: 'echo one; echo two >&2; echo three',
    image: worker.first.image,
    status: 'succeeded',
    trigger: 'manual',
    scheduled_for: null,
    overlap: null,
    timeout_seconds: 86_400,
    stdin: false,
    input_ended_at: null,
    exit_code: 0,
    error: null,
    error_code: null,
    error_details: null,
    deadline_at: null,
    by: { kind: 'token', id: 'server', name: 'server token' },
  })
  assert.ok(created_at <= started_at && started_at <= finished_at, `${started_at} ${finished_at}`)
  const lines = await jobLog(api, requested.id)
  assert.deepEqual(
    lines.map(({ stream, line }) => `${stream}: ${line}`).sort(),
    [
      'system: running echo one; echo two >&2; echo three',
      'stdout: one',
      'stderr: two',
      'stdout: three',
      'system: succeeded',
    ].sort(),
  )
  assert.equal(lines.at(-1)?.line, 'succeeded')
  await clearedJob(api, requested.id)
  assert.deepEqual(await jobContainers(docker, daemon, requested.id), [])
})

const failures: [what: string, command: string, code: number, error: string | RegExp][] = [
  ['that exits with 3', 'echo no table; exit 3', 3, 'exited with code 3'],
  [
    'that is not found',
    'nonesuch --now',
    127,
    /^could not run 'nonesuch --now': there is no 'nonesuch' in PATH/,
  ],
  [
    'that does not exist',
    '/etc/passwd',
    126,
    /^could not run '\/etc\/passwd': \/etc\/passwd has no execute permission/,
  ],
  ['whose process is killed', 'kill -9 $$', 137, 'was ended by SIGKILL (exit code 137)'],
  ['that eats all memory', 'tail /dev/zero', 137, /^was killed for using more .* limit of 24 MiB$/],
]

for (const [what, command, code, error] of failures) {
  long(`a command ${what} is reported by its exit code and a message`, async () => {
    const worker = await aWorker()
    const run = await runJob(suite.api, worker.name, command)
    assert.deepEqual([run.status, run.exit_code], ['failed', code], run.error)
    if (typeof error === 'string') assert.equal(run.error, error)
    else assert.match(run.error, error)
    assert.equal((await jobLog(suite.api, run.id)).at(-1)?.line, `failed: ${run.error}`)
  })
}

long('a run past its time limit gets SIGTERM, and its output from then on is in its log', async () => {
  const worker = await aWorker()
  const { api } = suite
  const command = 'trap "echo last words; exit 4" TERM; echo begun; while true; do sleep 0.1; done'
  const run = await runJob(api, worker.name, command, { timeout_seconds: 2 })

  assert.deepEqual(
    [run.status, run.exit_code, run.error],
    ['failed', 4, 'took longer than its limit of 2s (--timeout, --job-timeout)'],
  )
  assert.deepEqual(await output(api, run.id), ['begun', 'last words'])
})

test('a run has the image, env, limits and disk of the live version, and no more', async (t) => {
  const { api, daemon } = suite
  const neighbor = await createService(t, api, await pageApp('from the neighbor'), { shared_network: true })
  const worker = await createWorker(t, api, {
    disk_mount_path: '/data',
    memory_limit_mb: 48,
    cpu_limit: 0.5,
    env: [{ key: 'SHOP', value: 'red' }],
    start_command: `echo of the instance >/data/instance; trap "exit 0" TERM; sleep 100000 & wait`,
  })
  await api.call('PATCH', `/services/${worker.name}`, { memory_limit_mb: 64 })
  await api.call('PATCH', `/services/${worker.name}/env`, { set: [{ key: 'SHOP', value: 'blue' }] })
  const command = [
    'cat /data/instance',
    `wget -q -O - http://${neighbor.name}:3000/; echo`,
    'echo "$SHOP $BERTH_JOB_ID"',
    'echo of the run >/data/run',
    'until [ -e /data/go ]; do sleep 0.1; done',
  ].join('\n')
  const { id } = await requestJob(api, worker.name, { command })
  const found = await runningContainer(docker, daemon, id)
  const live = await docker.getContainer(await findInstance(api, worker.name)).inspect()
  await runJob(api, worker.name, 'touch /data/go')

  assert.equal((await finishedJob(api, id)).status, 'succeeded')
  assert.deepEqual(await output(api, id), ['of the instance', 'from the neighbor', `red ${id}`])
  assert.deepEqual(found.Config.Env.sort(), [...live.Config.Env, `BERTH_JOB_ID=${id}`].sort())
  const traits = ({ Image, HostConfig: host, NetworkSettings, Mounts }: ContainerInspectInfo) => ({
    Image,
    limits: [host.Memory, host.MemorySwap, host.NanoCpus, host.PidsLimit],
    security: [host.SecurityOpt, host.CapAdd ?? null, host.Privileged],
    log: host.LogConfig,
    networks: Object.keys(NetworkSettings.Networks),
    mounts: Mounts.map(({ Name, Destination, RW }) => [Name, Destination, RW]),
    ports: [host.PortBindings ?? {}, host.PublishAllPorts],
  })
  assert.deepEqual(traits(found), traits(live))
  assert.equal(found.HostConfig.Memory, 48 * 1024 * 1024)
  assert.equal(found.HostConfig.RestartPolicy?.Name, 'no')
  const aliases = found.NetworkSettings.Networks[daemon.prefix]?.Aliases ?? []
  assert.ok(!aliases.includes(worker.name), aliases.join())
  assert.equal((await runIn(docker, live.Id, 'cat', '/data/run')).trim(), 'of the run')
})

long('a command reaches the shell of the container byte for byte', async () => {
  const { api, daemon } = suite
  const { name } = await aWorker()
  const mark = `/pwned-${randomUUID()}`
  const unusual = ` ' " \\ $HOME \${x} $(id) \`touch ${mark}\` %s * ünïcode 🚢\t!`
  const command = [
    `base64 -w 0 /proc/$$/cmdline; echo; touch ${mark}; echo ok #${unusual}`,
    `: <<'END'\n${unusual}\n; touch ${mark}\nEND`,
    'until [ -e /data/go ]; do sleep 0.1; done\n',
  ].join('\n\n')
  const { id } = await requestJob(api, name, { command })
  const { Config } = await runningContainer(docker, daemon, id)
  await runJob(api, name, 'touch /data/go')
  const run = await finishedJob(api, id)
  await runJob(api, name, 'rm /data/go')

  assert.deepEqual([run.status, run.command, run.error], ['succeeded', command, null])
  const [encoded, ...rest] = await output(api, id)
  assert.deepEqual(rest, ['ok'])
  const seen = Buffer.from(encoded!, 'base64').toString().split('\0').slice(0, -1)
  assert.deepEqual(seen, ['sh', '-c', command])
  assert.deepEqual([Config.Entrypoint, Config.Cmd], [['sh', '-c'], [command]])
  assert.equal(existsSync(mark), false)
})
