// A source that blocks the event loop whenever it is read: the watchdog ends the daemon twice, then the
// deploy is parked. Everything else continues.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runBerth } from '../support/cli/berth.ts'
import { startDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { dockerfile, fetchPage, finishedDeploy, pageApp, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const poison = 'text that blocks the event loop'
const serving = 'CMD ["sh", "-c", "trap \\"exit 0\\" TERM; httpd -f -p ${PORT} -h /www & wait"]'

/** Reading the poison never ends, and the watchdog waits for 3 s instead of a minute. */
const fault = `
  const threads = require('node:worker_threads')
  const { Worker } = threads
  threads.Worker = class extends Worker {
    constructor(file, options = {}) {
      if (options.workerData?.limitSeconds) options.workerData.limitSeconds = 3
      super(file, options)
    }
  }
  const { toString } = Buffer.prototype
  Buffer.prototype.toString = function (...args) {
    const text = toString.apply(this, args)
    while (text.includes(${JSON.stringify(poison)}));
    return text
  }
  require('node:module').syncBuiltinESMExports()
`

const lastLog = (daemon: TestDaemon, text: string) =>
  JSON.parse(daemon.log.findLast((line) => line.includes(text)) ?? '{}')

test('a source that ends the daemon twice is parked, and other deploys go live', async (t) => {
  const faultFile = join(temporaryDirectory(t), 'fault.cjs')
  writeFileSync(faultFile, fault)
  const daemon = await startDaemon(t, { env: { NODE_OPTIONS: `--require ${faultFile}` } })
  const health = async () => (await fetch(`${daemon.api.url}/healthz?verbose`)).text()
  const poisoned = await createService(t, daemon.api, await pageApp('one'))
  const harmless = await createService(t, daemon.api, await pageApp('two'))

  const slow = await dockerfile('COPY www /www', 'RUN sleep 6', serving)
  harmless.repository.commit('Slow', { Dockerfile: slow, 'www/index.html': 'three' })
  const other = await harmless.request()
  await until('its build', async () => (await daemon.api.get(`/deploys/${other.id}`)).phase === 'building')
  poisoned.repository.commit('Poison', { '.dockerignore': poison })
  const culprit = await poisoned.request()

  assert.equal(await daemon.ended(), 'SIGKILL')
  await daemon.start()
  assert.equal(lastLog(daemon, 'ended itself').reason, 'the event loop was blocked')
  assert.equal(lastLog(daemon, 'read in turns').suspects, 2)
  assert.equal(await daemon.ended(), 'SIGKILL')
  await daemon.start()

  const parked = lastLog(daemon, 'still parked')
  assert.deepEqual([parked.actor, parked.code], [culprit.id, 'ended_server'])
  await until('its health', async () => (await health()).startsWith('degraded\nactors_parked'))
  const { stdout } = await runBerth(t, ['actors', '--parked'], { daemon })
  assert.match(stdout, /had to end itself twice during buildImage: the event loop was blocked/)
  assert.equal((await finishedDeploy(daemon.api, other.id)).status, 'live')
  assert.equal(await fetchPage(daemon.api, harmless.name), 'three')
  assert.equal(await fetchPage(daemon.api, poisoned.name), 'one')
  assert.equal((await daemon.api.get(`/deploys/${culprit.id}`)).status, 'failed')

  poisoned.repository.commit('Fixed', { '.dockerignore': 'nothing' })
  const fixed = await daemon.api.post(`/services/${poisoned.name}/deploys`, {})
  assert.equal((await finishedDeploy(daemon.api, fixed.id)).status, 'live')
  await until('no suspects', async () => !(await health()).includes('actors_suspected'))
})
