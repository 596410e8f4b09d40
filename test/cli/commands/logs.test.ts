// Logs at the command line: whole through losses of the connection, and unable to move a cursor.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBerth } from '../../support/cli/berth.ts'
import { openTcpGate } from '../../support/cli/tcp-gate.ts'
import { dockerfile, logLines, pageApp, until } from '../../support/daemon/service.ts'
import { createService, daemonSuite } from '../../support/daemon/suite.ts'
import { long } from '../../support/system/drill-size.ts'

const suite = daemonSuite()

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
