// `berth ssh` in real containers: pipes, a terminal, its end, and what the audit log has of it.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type BerthOptions, runBerth } from '../support/cli/berth.ts'
import { keys, openTerminal } from '../support/cli/pty.ts'
import { spawnBerth } from '../support/cli/spawned.ts'
import { finishedJob, requestJob, sharedWorker } from '../support/daemon/jobs.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { daemonSuite } from '../support/daemon/suite.ts'
import { findProcesses } from '../support/system/processes.ts'

const suite = daemonSuite()
const aWorker = sharedWorker(fileScope(), suite, { instances: 2 })

const ssh = (t: TestContext, words: string[], options: BerthOptions = {}) =>
  runBerth(t, ['ssh', ...words], { daemon: suite.daemon, ...options })

test('piped input goes in, both outputs and the exit code come out, and the audit log has it', async (t) => {
  const { name } = await aWorker()
  const input = 'a private line\n'.repeat(100_000)
  const echoed = await ssh(t, [name, '--', 'cat'], { input })
  assert.deepEqual([echoed.code, echoed.stdout === input, echoed.stderr], [0, true, ''])

  const failed = await ssh(t, [name, '--', 'echo lost >&2; exit 7'])
  assert.deepEqual(failed, { code: 7, stdout: '', stderr: 'lost\n' })
  const words = await ssh(t, [name, '--', 'printf', '%s|', 'two words', '$HOME'])
  assert.deepEqual(words, { code: 0, stdout: 'two words|$HOME|', stderr: '' })

  const { entries } = await until('the outcomes', async () => {
    const entries = (await suite.api.get('/audit?limit=50')).filter(
      ({ action }: { action: string }) => action === 'service.shell',
    )
    return entries.every((entry: { finished_at: string | null }) => entry.finished_at) && { entries }
  })
  const known = entries.map((entry: { exit_code: number; service_name: string; status: number }) => [
    entry.service_name,
    entry.status,
    entry.exit_code,
  ])
  assert.deepEqual(known, [
    [name, 101, 0],
    [name, 101, 7],
    [name, 101, 0],
  ])
  assert.doesNotMatch(JSON.stringify(entries) + suite.daemon.log.join(), /private line|two words/)
})

test('each instance can be opened; one that does not run is refused', async (t) => {
  const { name } = await aWorker()
  const hosts = ['0', '1'].map((index) => ssh(t, [name, '--instance', index, '--', 'hostname']))
  const [first, second] = await Promise.all(hosts)
  assert.deepEqual([first!.code, second!.code], [0, 0])
  assert.notEqual(first!.stdout, second!.stdout)

  const none = await ssh(t, [name, '--instance', '9', '--', 'hostname'])
  assert.deepEqual([none.code, none.stdout], [1, ''])
  assert.match(none.stderr, /no instance 9 of \S+ is running, only 0, 1\n +berth status/)
  assert.equal((await ssh(t, ['nonesuch'])).code, 3)
})

test('a terminal has its size, passes Ctrl-C on, and ends with the exit code of the shell', async (t) => {
  const { name } = await aWorker()
  const terminal = openTerminal(t, ['ssh', name], { daemon: suite.daemon, columns: 100 })
  await terminal.shows(/[#$] /)
  terminal.type(`stty size; tty -s && echo 'is a'' terminal'${keys.enter}`)
  await terminal.shows(/^40 100\s*$/m)
  await terminal.shows('is a terminal')
  terminal.type(`sleep 1000; echo 'st''opped'${keys.enter}`)
  await until('the command', async () => (await findProcesses('sleep 1000')).length > 0)
  terminal.type(keys.interrupt)
  terminal.type(`exit 5${keys.enter}`)
  assert.equal(await terminal.ended(), 5)
})

test('a killed client leaves no process in the container', async (t) => {
  const { name } = await aWorker()
  const seconds = `${process.pid}${Math.floor(Math.random() * 1e4)}`
  const command = `trap "" INT HUP; sleep ${seconds} & sleep ${seconds}; wait`
  const piped = spawnBerth(t, ['ssh', name, '--', command], { daemon: suite.daemon })
  const terminal = openTerminal(t, ['ssh', name, '--', command], { daemon: suite.daemon })
  await until('both', async () => (await findProcesses(`sleep ${seconds}`)).length === 4)
  piped.child.kill('SIGKILL')
  terminal.kill()
  await until('their end', async () => (await findProcesses(`sleep ${seconds}`)).length === 0)
})

test('the container of a job run can be opened while it runs', async (t) => {
  const { name } = await aWorker()
  const { id } = await requestJob(suite.api, name, {
    command: 'until [ -e /tmp/go ]; do sleep 0.1; done; cat /tmp/go',
  })
  await until('the run', async () => (await suite.api.get(`/jobs/${id}`)).started_at !== null)
  const opened = await ssh(t, ['--job', id, '--', 'cat > /tmp/new; mv /tmp/new /tmp/go'], { input: 'on\n' })
  assert.deepEqual(opened, { code: 0, stdout: '', stderr: '' })
  assert.equal((await finishedJob(suite.api, id)).status, 'succeeded')
  const late = await ssh(t, ['--job', id])
  assert.match(late.stderr, /this run is succeeded: it has no container to open/)
})
