// Deploys from the command line: followed to their outcome through pipes and at a terminal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runBerth, startBerth } from '../../support/cli/berth.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { keys } from '../../support/cli/pty.ts'
import { dockerfile, finishedDeploy, pageApp, until } from '../../support/daemon/service.ts'
import { createService, daemonSuite } from '../../support/daemon/suite.ts'
import { long } from '../../support/system/drill-size.ts'

const suite = daemonSuite()
const introducer = '\x1b'
const phases = ['fetching', 'building', 'starting', 'checking', 'switching', 'live']
let builds = 0

/** A step that lasts until a test has seen enough of it; no builder has seen it before. */
function slowStep(seconds: number): string {
  const numbers = Array.from({ length: seconds }, (_, index) => index + 1).join(' ')
  return `RUN for i in ${numbers}; do echo tick $i; sleep 1; done; true ${process.pid} ${++builds}`
}

test('a deploy that goes live prints the address on stdout and its undo, with exit code 0', async (t) => {
  const { name, first } = await createService(t, suite.api, null)

  const { code, stdout, stderr } = await runBerth(t, ['deploy', name], suite)

  assert.equal(code, 0)
  assert.equal(await (await fetch(stdout.trim())).text(), 'one')
  const lines = stderr.trimEnd().split('\n')
  assert.match(lines.at(-3)!, new RegExp(`^ ✔ live +${stdout.trim()} +\\d+(\\.\\d)?s$`))
  assert.match(lines.at(-2)!, /^ {3}slowest: \w+, \d+(\.\d)?s$/)
  assert.equal(lines.at(-1), `   undo: berth rollback ${name} ${first.id}`)
  const reported = lines.map((line) => /^ ✔ (\w+)/.exec(line)?.[1]).filter(Boolean)
  assert.deepEqual(reported, phases)
})

test('through pipes there are no control characters, and the log follows its phases', async (t) => {
  const files = await pageApp('one', `RUN printf 'gone\\r\\033[31mred\\033[0m\\033[2Jend\\n'`)
  const { name } = await createService(t, suite.api, files, { deploy: false })

  const { stdout, stderr } = await runBerth(t, ['deploy', name], suite)

  assert.ok(!(stdout + stderr).includes(introducer) && !stderr.includes('\r'))
  const building = stderr.slice(stderr.indexOf(' · building'), stderr.indexOf(' ✔ building'))
  assert.match(building, /\n {3}│ #\d+ \d+\.\d+ redend\n/)
})

test('a failed build ends with exit code 1, the phase, the reason and the next step', async (t) => {
  const { name, first } = await createService(t, suite.api, {
    Dockerfile: await dockerfile('RUN echo compiling && echo "no such module" && exit 3'),
  })
  assert.equal(first.status, 'failed')

  const { code, stdout, stderr } = await runBerth(t, ['deploy', name], suite)

  assert.deepEqual([code, stdout], [1, ''])
  const [phase, reason, hint, why] = stderr.trimEnd().split('\n').slice(-4)
  assert.match(phase!, new RegExp(`^ ✘ ${name} failed while building, after \\d+(\\.\\d)?s$`))
  assert.match(reason!, /exited with code 3$/)
  assert.ok(hint!.startsWith('   fix the step RUN echo compiling'), hint)
  assert.ok(hint!.endsWith(`, then: berth deploy ${name}`), hint)
  assert.match(why!, /^ {3}why: berth why dep-\w{26}$/)
})

test('why names the failed step with its last lines, and the duration of each phase', async (t) => {
  const { name, first } = await createService(t, suite.api, {
    Dockerfile: await dockerfile('RUN echo compiling && echo "no such module" && exit 3'),
  })

  const newest = await runBerth(t, ['why', name], suite)
  const json = await runBerth(t, ['why', first.id, '--json'], suite)

  assert.equal(newest.code, 0)
  assert.match(newest.stdout, new RegExp(`^ ${name} failed while building, `))
  assert.match(newest.stdout, /✔ fetching +\d+(\.\d)?s\n ✘ building +\d+(\.\d)?s\n/)
  assert.match(newest.stdout, /RUN echo compiling .*\n {3}│ \S+ compiling\n {3}│ \S+ no such module\n/)
  const reported = JSON.parse(json.stdout)
  assert.deepEqual(
    reported.phases.map((phase: { name: string; failed: boolean }) => [phase.name, phase.failed]),
    [
      ['queued', false],
      ['fetching', false],
      ['building', true],
    ],
  )
  assert.match(reported.failed_step, /RUN echo compiling/)
  assert.equal(reported.deploy.id, first.id)
})

long('why shows the line that names the error, even before a long trace', async (t) => {
  const trace = 'i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo "    at frame $i"; done'
  const script = `echo throw err; echo "Error: Cannot find module 'expres'"; ${trace}; exit 1`
  const { name, first } = await createService(
    t,
    suite.api,
    { Dockerfile: await dockerfile(`CMD ${JSON.stringify(['sh', '-c', script])}`) },
    { health_check_timeout_seconds: 5 },
  )

  const { stdout } = await runBerth(t, ['why', name], suite)
  const json = await runBerth(t, ['why', first.id, '--json'], suite)

  assert.match(stdout, / {3}│ Error: Cannot find module 'expres'\n {3}│ …\n {3}│ {5}at frame 6\n/)
  assert.equal(JSON.parse(json.stdout).error_line, "Error: Cannot find module 'expres'")
})

long('a deploy that is canceled by someone else ends with exit code 1 and a message', async (t) => {
  const files = { Dockerfile: await dockerfile(slowStep(60)) }
  const { name } = await createService(t, suite.api, files, { deploy: false })
  const following = startBerth(t, ['deploy', name], suite)
  await following.shows('tick 1')

  const canceling = await runBerth(t, ['cancel', name], suite)
  const { code, stderr } = await following.ended()

  assert.equal(canceling.code, 0)
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(` ✘ ${name} was canceled while building, after `))
  assert.match(stderr, /\n {3}canceled by the server token\n/)
  const again = await runBerth(t, ['cancel', name], suite)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /no deploy of .* is queued or running/)
})

test('Ctrl-C leaves the deploy running, names the next commands, and ends with code 130', async (t) => {
  const { name } = await createService(t, suite.api, await pageApp('one', slowStep(3)), { deploy: false })
  const terminal = openFakeTerminal(t, ['deploy', name], suite)
  await terminal.shows('tick 1')

  terminal.type(keys.interrupt)

  assert.equal(await terminal.ended(), 130)
  const [continues, follow, stop] = terminal.screen().slice(-3)
  const [, id] = /to follow it again: berth logs --deploy (\S+) -f/.exec(follow!) ?? []
  assert.match(continues!, /the deploy continues in the background/)
  assert.match(stop!, new RegExp(`to stop it: berth cancel ${id}`))
  assert.equal((await finishedDeploy(suite.api, id!)).status, 'live')
})

test('at a terminal each state has one line, and lines fit', async (t) => {
  const files = await pageApp('one', slowStep(5))
  const { name } = await createService(t, suite.api, files, { deploy: false })
  const terminal = openFakeTerminal(t, ['deploy', name], suite)
  await terminal.shows('tick 2')
  const moving = terminal.screen()

  assert.equal(await terminal.ended(), 0)

  assert.match(moving[1]!, /^ [⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] building {5}\[\d\/\d\] RUN for i in/)
  assert.match(moving.at(-1)!, /^ {3}│ #\d+ \d\.\d+ tick \d$/)
  const label = terminal.screen()
  assert.deepEqual(
    label.map((line) => line.trim().split(/\s+/).slice(0, 2).join(' ')),
    [...phases.map((name) => `✔ ${name}`), 'slowest: building,'],
  )
  const widths = [...moving, ...label].map((line) => line.length)
  assert.ok(Math.max(...widths) === 79, String(widths))
})

test('with --json every log line is a value, and the last value is the deploy', async (t) => {
  const { name } = await createService(t, suite.api, null, { deploy: false })

  const { code, stdout, stderr } = await runBerth(t, ['deploy', name, '--json'], suite)

  const values = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const last = values.pop()
  assert.deepEqual([code, stderr, last.status], [0, '', 'live'])
  assert.equal(await (await fetch(last.address)).text(), 'one')
  assert.ok(values.every(({ ts, stream, line }) => ts && stream && typeof line === 'string'))
  assert.equal(values.at(-1).line, 'live')
})

long('--no-follow prints the id and exits; deploys and history show the rest', async (t) => {
  const { name } = await createService(t, suite.api, null, { deploy: false })

  const { code, stdout } = await runBerth(t, ['deploy', name, '--no-follow'], suite)
  const id = stdout.trim()
  await until('the deploy to be live', async () => (await finishedDeploy(suite.api, id)).status === 'live')
  const list = await runBerth(t, ['deploys', name], suite)
  const history = await runBerth(t, ['history', id], suite)

  assert.equal(code, 0)
  assert.match(
    list.stdout,
    new RegExp(`^DEPLOY +STATUS +BEGAN +TOOK +BY +WHAT\n${id} +live .* server token +\\w+ First\n$`),
  )
  assert.match(
    history.stdout,
    /queued +server token +created\n.*running\.fetching.*\n.*running\.building.*\n/,
  )
  assert.equal((await runBerth(t, ['deploy', 'nobody'], suite)).code, 3)
})
