// Logs at the command line: whole through losses of the connection, and unable to move a cursor.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runBerth, startBerth } from '../../support/cli/berth.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { openTcpGate } from '../../support/cli/tcp-gate.ts'
import { dockerfile, logLines, pageApp, until } from '../../support/daemon/service.ts'
import { createService, daemonSuite } from '../../support/daemon/suite.ts'
import { long } from '../../support/system/drill-size.ts'

const suite = daemonSuite()
const introducer = '\x1b'

/** No builder has seen it before. */
const ticking = `RUN for i in $(seq 14); do echo tick $i; sleep 0.5; done; true ${process.pid}`

test('a log across a cut connection has every line once', async (t) => {
  const { request } = await createService(t, suite.api, await pageApp('one', ticking), { deploy: false })
  const door = await openTcpGate(t, () => suite.api.url)
  const { id } = await request()
  const options = { ...suite, env: { BERTH_SERVER: door.url } }
  const following = startBerth(t, ['logs', '--deploy', id, '-f'], options)
  await following.shows('tick 2')

  door.shut()
  await following.shows('connection lost, retrying')
  door.open()
  await following.shows('connected again')
  door.cut()
  const { code, stdout } = await following.ended()

  assert.equal(code, 0)
  assert.deepEqual(stdout.trimEnd().split('\n'), await logLines(suite.api, id))
})

long('a deploy is followed to its outcome across a restart of the daemon', async (t) => {
  const files = await pageApp('one', `${ticking} again`)
  const { name } = await createService(t, suite.api, files, { deploy: false })
  const door = await openTcpGate(t, () => suite.api.url)
  const following = startBerth(t, ['deploy', name], { ...suite, env: { BERTH_SERVER: door.url } })
  await following.shows('tick 2')

  await suite.daemon.kill()
  await following.shows('connection lost, retrying')
  await suite.daemon.start()
  const { code, stdout, stderr } = await following.ended()

  assert.equal(code, 0, stderr)
  assert.equal(await (await fetch(stdout.trim())).text(), 'one')
  assert.match(stderr, / ! connected again\n/)
  assert.equal(stderr.match(/│ #\d+ \S+ tick 1$/gm)?.length, 2, 'the build started twice, with one line each')
})

long('at a terminal the output of instances can set colours and nothing else', async (t) => {
  const evil = `printf '\\\\033[31mred\\\\033[0m \\\\033[2J\\\\033[5Aup\\\\010back\\\\n'`
  const { name } = await createService(t, suite.api, {
    Dockerfile: await dockerfile(`CMD ["sh", "-c", "${evil}; httpd -f -p $PORT"]`),
  })

  await until('its words are stored', async () => (await runBerth(t, ['logs', name], suite)).stdout !== '')
  const terminal = openFakeTerminal(t, ['logs', name], suite)
  assert.equal(await terminal.ended(), 0)
  const piped = await runBerth(t, ['logs', name], suite)
  const timed = await runBerth(t, ['logs', name, '--timestamps', '--tail', '1'], suite)

  assert.match(terminal.screen()[0]!, /^\d\d:\d\d:\d\d red upback$/)
  assert.ok(terminal.written.includes(`${introducer}[31mred${introducer}[0m`))
  assert.ok(!terminal.written.includes(`${introducer}[2J`) && !terminal.written.includes(`${introducer}[5A`))
  assert.equal(piped.stdout, 'red upback\n')
  assert.match(timed.stdout, /^\d{4}-\d\d-\d\dT\S+Z red upback\n$/)
})

long('the logs of a service continue after a loss, without gap or repetition', async (t) => {
  const { name } = await createService(t, suite.api, {
    Dockerfile: await dockerfile(
      'CMD ["sh", "-c", "httpd -p $PORT; i=0; while true; do i=$((i+1)); echo beat $i; sleep 0.2; done"]',
    ),
  })
  const door = await openTcpGate(t, () => suite.api.url)
  const following = startBerth(t, ['logs', name, '-f'], { ...suite, env: { BERTH_SERVER: door.url } })
  await following.shows(/beat 3\n/)

  door.cut()
  await following.shows('connected again\n')
  const before = beats(following.stdout)
  await until('more lines', async () => beats(following.stdout).length > before.length + 3)

  const numbers = beats(following.stdout)
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index + 1),
  )
  following.interrupt()
  const { code, stderr } = await following.ended()
  assert.deepEqual([code, stderr.match(/lost/g)?.length], [130, 1])
})

function beats(text: string): number[] {
  return [...text.matchAll(/beat (\d+)\n/g)].map(([, number]) => Number(number))
}
