// A data directory whose disk is nearly or completely full: deploys report the missing space, everything else
// works, and deploys continue when there is space again.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { createServices, requireAcknowledged, wereRejected } from '../support/daemon/acknowledged-services.ts'
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { fetchPage, finishedDeploy, logLines, pageApp, until } from '../support/daemon/service.ts'
import { createService, type TestService } from '../support/daemon/suite.ts'
import { fillDisk, smallDisk } from '../support/system/small-disk.ts'

const neededMb = 24
const options = process.getuid?.() === 0 ? {} : { skip: 'needs root, to mount a small disk' }

const scope = fileScope()
let disk: string
let daemon: TestDaemon
let service: TestService

before(async () => {
  if ('skip' in options) return
  disk = smallDisk(scope, 64)
  daemon = await launchDaemon({ dataDir: join(disk, 'data'), args: [`--min-free-disk=${neededMb}`] })
  scope.after(() => daemon.remove())
  service = await createService(scope, daemon.api, await pageApp('page'))
})

const deploy = async () => {
  const { id } = await daemon.api.post(`/services/${service.name}/deploys`)
  return finishedDeploy(daemon.api, id)
}

test('below the threshold a deploy is refused by name, a restart is not', options, async () => {
  const empty = fillDisk(disk, neededMb - 4)

  const refused = await deploy()

  assert.deepEqual([refused.status, refused.phase], ['failed', null])
  const words = /has \d+ MiB free, a deploy needs 24 MiB \(--min-free-disk\)$/
  assert.match(refused.error, words)
  assert.match((await logLines(daemon.api, refused.id)).at(-1)!, words)
  const restart = await daemon.api.post(`/services/${service.name}/restart`)
  assert.equal((await finishedDeploy(daemon.api, restart.id)).status, 'live')
  empty()
  assert.equal((await deploy()).status, 'live')
})

test(
  'while the disk is full during a build the deploy waits for space and loses no line',
  options,
  async () => {
    // Long enough for a busy machine to fill the disk during the build.
    const lines = 'RUN for n in $(seq 0 19); do sleep 1; seq $((n * 150 + 1)) $((n * 150 + 150)); done'
    service.repository.commit('Talks', await pageApp('talks', lines))
    const { id } = await service.request()
    await until('its build', async () => (await daemon.api.get(`/deploys/${id}`)).phase === 'building')
    const empty = fillDisk(disk)

    const requests = [...(await createServices(daemon.api, 1))]
    await until('a refusal', async () => {
      requests.push(...(await createServices(daemon.api, 20)))
      return wereRejected(requests)
    })
    assert.equal((await fetch(`${daemon.api.url}/healthz`)).status, 200)
    assert.equal(await fetchPage(daemon.api, service.name), 'page')
    await until('the log to fail', async () => daemon.log.some((line) => line.includes('log file cannot be')))
    empty()

    const { status, error } = await finishedDeploy(daemon.api, id)
    assert.deepEqual([status, error], ['live', null])
    await requireAcknowledged(daemon.api, requests, true)
    const said = (await logLines(daemon.api, id)).map((line) => /^#\d+ [\d.]+ (\d+)$/.exec(line)?.[1] ?? null)
    assert.deepEqual(
      said.filter((line) => line !== null),
      Array.from({ length: 3000 }, (_, index) => String(index + 1)),
    )
    assert.equal(await fetchPage(daemon.api, service.name), 'talks')
  },
)
