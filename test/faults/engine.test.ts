// The Docker engine stops, hangs and is killed while a deploy is in each of its phases: every deploy goes
// live or fails with a reason, its service serves, and nothing half-made stays. The engine is one of the
// test's own.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openStorage } from '../../storage/index.ts'
import type { Body } from '../support/api.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { type EngineSite, openSite, prepareSite } from '../support/engine-site.ts'
import { createHeldService, type HeldService, holdDeploys, phases } from '../support/held-deploys.ts'
import { findLeftovers } from '../support/leftovers.ts'
import { isInside, runInside, whyNoNamespace } from '../support/namespace.ts'
import { fileScope } from '../support/scope.ts'
import { fetchPage, finishedDeploy, until } from '../support/service.ts'

/** What happens to the engine; `goOn` lets the deploys go on. */
type Fault = (site: EngineSite, goOn: () => void) => Promise<void>

const faults: Record<string, Fault> = {
  async 'is stopped and started again'({ engine }, goOn) {
    await engine.stop()
    goOn()
    await delay(2000)
    await engine.start()
  },
  async 'hangs for a while'({ engine }, goOn) {
    engine.pause()
    goOn()
    await delay(8000)
    engine.resume()
  },
  async 'is killed and started again'({ engine }, goOn) {
    await engine.kill()
    goOn()
    await engine.start()
  },
}

const scope = fileScope()

function outside(impossible: string | null): void {
  test('deploys survive what happens to the engine', { skip: impossible ?? false }, async (t) => {
    const directory = temporaryDirectory(scope)
    await prepareSite(scope, directory)
    const { code, lines } = await runInside(import.meta.url, { PREPARED: directory })
    for (const line of lines.filter((line) => /^ *(not )?ok |^ *# /.test(line))) t.diagnostic(line)
    assert.equal(code, 0, lines.join('\n'))
  })
}

function inside(): void {
  let site: EngineSite
  const services: HeldService[] = []
  let round = 0

  before(async () => {
    site = await openSite(scope, process.env.PREPARED!)
    const creating = phases.map((phase) => createHeldService(scope, site.holds, phase))
    services.push(...(await Promise.all(creating)))
  })

  function goOn(): void {
    const { engine, git, images, gate } = site.holds
    for (const door of [engine, git, images.door]) door.release()
    gate.open()
  }

  for (const [what, fault] of Object.entries(faults)) {
    test(`the engine ${what} while deploys are in every phase`, async (t) => {
      const { daemon, holds } = site
      const { pid } = daemon
      round++
      const clock = stopwatch(t)
      await holdDeploys(holds, services, round)
      clock('all are held')

      await fault(site, goOn)
      clock('the fault is over')

      await Promise.all(services.map((service) => requireEnd(t, site, service)))
      clock('all is whole')
      assert.equal(daemon.pid, pid)
      assert.equal((await fetch(`${daemon.api.url}/healthz`)).status, 200)
      assert.deepEqual(troubles(daemon.log), [])
    })
  }

  test('nothing half-made is left on disk', async () => {
    const { daemon } = site
    const records: Body[] = await daemon.api.get('/services')
    assert.equal(await daemon.stop(), 0)
    const work = join(daemon.dataDir, 'work')
    assert.deepEqual(existsSync(work) ? readdirSync(work) : [], [])
    const storage = await openStorage(daemon.dataDir, { onPanic: assert.fail })
    const live = records.map((record) => record.live_deploy_id).sort()
    assert.deepEqual(storage.addresses.deployIds().sort(), live)
    await storage.close()
  })
}

/** The deploy went live or failed with a reason. */
async function requireEnd(t: TestContext, site: EngineSite, service: HeldService): Promise<void> {
  const { status, phase, error } = await finishedDeploy(site.holds.api, service.id)
  t.diagnostic(`${service.phase}: ${status}${phase ? ` in ${phase}` : ''}${error ? `, ${error}` : ''}`)
  assert.ok(status === 'live' || (status === 'failed' && error), `${service.phase}: ${status} ${error}`)
  await requireWhole(site, service, status === 'live')
}

/** What serves is what the service says, and there is no more than that. */
async function requireWhole(
  { holds: { api }, daemon }: EngineSite,
  service: HeldService,
  isLive: boolean,
): Promise<void> {
  const { id, name, next, former } = service
  const text = isLive ? next : former
  await until(`${name} to serve ${text}`, async () => (await fetchPage(api, name)).trim() === text)
  const { live_deploy_id } = await api.get(`/services/${name}`)
  await until(`the end of all other versions of ${name}`, async () => {
    const { containers } = await findLeftovers(daemon.prefix)
    const own = containers.filter((container) => container.includes(`-${name}-`))
    return own.length === 1 && own[0]!.includes(live_deploy_id.slice(4))
  })
  const { images } = await findLeftovers(daemon.prefix)
  if (!isLive) assert.ok(!images.some((image) => image.endsWith(id)), `${name} left an image`)
  service.former = text
}

/** Says how long each part took. */
function stopwatch(t: TestContext): (what: string) => void {
  let since = performance.now()
  return (what) => {
    t.diagnostic(`${what}: ${((performance.now() - since) / 1000).toFixed(1)} s`)
    since = performance.now()
  }
}

/** What the daemon holds against itself. */
function troubles(log: string[]): string[] {
  return log.filter((line) => /"level":"(error|fatal)"/.test(line))
}

if (isInside) inside()
else outside(await whyNoNamespace())
