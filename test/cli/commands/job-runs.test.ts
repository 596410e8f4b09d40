// Job runs from the command line on a real server: followed, left, canceled, and through losses of it.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runBerth, startBerth } from '../../support/cli/berth.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { keys } from '../../support/cli/pty.ts'
import { openTcpGate } from '../../support/cli/tcp-gate.ts'
import { finishedDeploy } from '../../support/daemon/service.ts'
import { daemonSuite } from '../../support/daemon/suite.ts'
import { baseImages } from '../../support/docker/images.ts'

const suite = daemonSuite()
const beating = 'i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo beat $i; sleep 0.3; done; exit 7'
let count = 0
let worker: Promise<string> | null = null

/** The same for all tests: it runs, and does nothing. */
function idleWorker(): Promise<string> {
  worker ??= liveService('background_worker', { start_command: 'while true; do sleep 1; done' })
  return worker
}

async function liveService(type: string, settings: object): Promise<string> {
  const name = `runs-${++count}`
  const { busybox } = await baseImages()
  const response = await suite.api.post('/services', { name, type, image: busybox, ...settings })
  assert.equal((await finishedDeploy(suite.api, response.latest_deploy.id)).status, 'live')
  return name
}

function berth(t: TestContext, ...args: string[]) {
  return runBerth(t, args, suite)
}

test('a program gets exactly the given arguments, and its exit code is passed on', async (t) => {
  const script = `printf '<%s>\\n' "$@"; echo late >&2; exit 5`
  const words = ['sh', '-c', script, 'sh', 'a  b', "it's", '$HOME', '*', '', '-x']

  const { code, stdout, stderr } = await berth(t, 'run', await idleWorker(), '--', ...words)

  assert.equal(code, 5, stderr)
  assert.equal(stdout, "<a  b>\n<it's>\n<$HOME>\n<*>\n<>\n<-x>\n")
  assert.match(stderr, /^ · running .*\nlate\n ✘ failed +job-\S+ .*\n {3}exited with code 5\n$/)
})

test('a run is followed to its end across a cut connection and a killed daemon', async (t) => {
  const door = await openTcpGate(t, () => suite.api.url)
  const options = { ...suite, env: { BERTH_SERVER: door.url } }
  const following = startBerth(t, ['run', await idleWorker(), '--', beating], options)
  await following.shows('beat 3\n')

  door.cut()
  await following.shows('connected again')
  await suite.daemon.kill()
  await suite.daemon.start()
  const { code, stdout } = await following.ended()

  assert.equal(code, 7)
  assert.equal(stdout, Array.from({ length: 20 }, (_, index) => `beat ${index + 1}\n`).join(''))
})

test('Ctrl-C leaves a run running, and prints how to follow it and how to end it', async (t) => {
  const terminal = openFakeTerminal(t, ['run', await idleWorker(), '--', 'echo begun; sleep 600'], suite)
  await terminal.shows('begun')

  terminal.type(keys.interrupt)

  assert.equal(await terminal.ended(), 130)
  const [leaving, back, end] = terminal.screen().slice(-3)
  const [, id = ''] = /berth cancel (\S+)$/.exec(end!) ?? []
  assert.deepEqual(
    [leaving!.replace('^C', ''), back, end],
    [
      ' ✘ the run continues in the background',
      `   to follow it again: berth logs --job ${id} -f`,
      `   to stop it: berth cancel ${id}`,
    ],
  )
  assert.equal((await suite.api.get(`/jobs/${id}`)).status, 'running')
  assert.equal((await berth(t, 'cancel', id)).code, 0)
})

test('a terminal shows the running command and its duration, and clears that at the end', async (t) => {
  const terminal = openFakeTerminal(
    t,
    ['run', await idleWorker(), '--', 'echo one; sleep 2; echo two'],
    suite,
  )
  await terminal.shows(/one[\s\S]*running {6}job-\S+ +1(\.\d)?s/)

  assert.equal(await terminal.ended(), 0)

  const label = terminal.screen()
  assert.deepEqual(label.slice(1, 3), ['one', 'two'])
  assert.match(label[0]!, /^ · running echo one/)
  assert.match(label[3]!, /^ ✔ succeeded {4}job-\S+ +\d(\.\d)?s$/)
  assert.equal(label.length, 4)
})

test('a cron job is created, shown, run and described as one', async (t) => {
  const { busybox } = await baseImages()
  const flags = ['--image', busybox, '--schedule', '0 3 * * *', '--timezone', 'Europe/Berlin']
  const more = ['--overlap', 'queue', '--job-timeout', '60', '--start-command', 'echo nightly; exit 4']

  const response = await berth(t, 'create', 'nightly', ...flags, ...more)
  const ran = await berth(t, 'run', 'nightly')

  assert.equal(response.code, 0, response.stderr)
  assert.match(response.stderr, / {3}next: berth schedule nightly\n$/)
  assert.deepEqual([ran.code, ran.stdout], [4, 'nightly\n'])
  const label = (await berth(t, 'show', 'nightly')).stdout
  assert.match(label, /^schedule +0 3 \* \* \*\ntime zone +Europe\/Berlin\noverlap +queue\n/m)
  assert.match(label, /^job limit +1m$/m)
  assert.doesNotMatch(label, /^(instances|port|drain|health check|disk) /m)
  const listed = (await berth(t, 'services')).stdout
  assert.match(listed, /^nightly +live +cron job +0 3 \* \* \* Europe\/Berlin +\S+busybox/m)
  assert.match(
    (await berth(t, 'logs', 'nightly')).stdout,
    /^running .*\nnightly\nfailed: exited with code 4\n$/,
  )
  assert.match(
    (await berth(t, 'jobs', 'nightly')).stdout,
    /^job-\S+ +failed \(4\) +server token .*echo nightly; exit 4$/m,
  )
  assert.match((await berth(t, 'schedule', 'nightly')).stdout, /^last run +none yet$/m)
  const idle = await berth(t, 'status', 'nightly')
  assert.deepEqual([idle.stdout, idle.stderr], ['nightly is live\n', '   next: berth schedule nightly\n'])
})

test('create asks for a missing schedule, and without a terminal names the flag', async (t) => {
  const silent = await berth(t, 'create', 'asked-not', '--type', 'cron_job')
  const terminal = openFakeTerminal(
    t,
    ['create', 'asked', '--type', 'cron_job', '--image', 'x', '--no-deploy'],
    suite,
  )
  await terminal.shows('When does it run?')
  terminal.type('15 4 * * 1\r')

  assert.equal(await terminal.ended(), 0)
  assert.deepEqual([silent.code, silent.stderr.includes("--schedule '0 3 * * *'")], [2, true])
  const { type, schedule } = await suite.api.get('/services/asked')
  assert.deepEqual([type, schedule], ['cron_job', '15 4 * * 1'])
})
