// Failing writes of the store: rows, the page that commits them, or the sync. Acknowledged data survives; a
// daemon that cannot know the state of its store reports that and exits.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  type CreateRequest,
  createServices,
  requireAcknowledged,
  wereRejected,
} from '../support/daemon/acknowledged-services.ts'
import { fetchPage, finishedDeploy, pageApp, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { sized } from '../support/system/drill-size.ts'
import { type Trace, traceCalls, whyNoTracing } from '../support/system/strace.ts'

const suite = daemonSuite()
const impossible = await whyNoTracing()
const options = impossible === null ? {} : { skip: impossible }

/**
 * What a write contains: whole pages of rows, the page that commits them, or the marker that they are synced.
 */
type Kind = 'rows' | 'meta' | 'mark' | 'flush'

interface Fault {
  kind: Kind
  call: string
  error: 'EIO' | 'ENOSPC'
}

const all: Fault[] = (['EIO', 'ENOSPC'] as const).flatMap((error): Fault[] => [
  { kind: 'rows', call: 'pwrite64', error },
  { kind: 'rows', call: 'writev', error },
  { kind: 'meta', call: 'pwrite64', error },
  { kind: 'mark', call: 'pwrite64', error },
  { kind: 'flush', call: 'fdatasync', error },
])
/** One that is refused, and one that ends the daemon. */
const smoke = all.filter(
  ({ kind, call, error }) =>
    (kind === 'rows' && call === 'pwrite64' && error === 'ENOSPC') || (kind === 'flush' && error === 'EIO'),
)

function kindOf(line: string): Kind | null {
  if (line.includes('fdatasync(')) return 'flush'
  if (line.includes('writev(')) return 'rows'
  const [, size, offset] = /, (\d+), (\d+)\) += /.exec(line) ?? []
  if (size === undefined) return null
  if (size !== '128') return 'rows'
  return Number(offset) % 4096 === 40 ? 'meta' : 'mark'
}

const trace = (t: TestContext, call: string, fault?: string): Promise<Trace> => {
  const { pid, dataDir } = suite.daemon
  const path = join(dataDir, 'store/data.mdb')
  return traceCalls(t, { pid, path, call, ...(fault ? { fault } : {}) })
}

/** The position of the call of that kind within one commit, from 1. */
async function findWrite(t: TestContext, { call, kind }: Fault, requests: CreateRequest[]): Promise<number> {
  const seen = await trace(t, call)
  requests.push(...(await createServices(suite.api, 1)))
  await seen.end()
  const kinds = seen.calls().flatMap((line) => kindOf(line) ?? [])
  return kinds.indexOf(kind) + 1
}

/** Sends requests during the fault until the intended call has failed; returns the affected process. */
async function hit(t: TestContext, fault: Fault, requests: CreateRequest[]): Promise<number> {
  return until(`a write of ${fault.kind} to be hit`, async () => {
    const { pid } = suite.daemon
    const writeNumber = await findWrite(t, fault, requests)
    const moment = fault.kind === 'rows' ? '' : `:when=${writeNumber}`
    const injected = await trace(t, fault.call, `error=${fault.error}${moment}`)
    requests.push(...(await createServices(suite.api, 1)), ...(await createServices(suite.api, 4)))
    await injected.end()
    const kinds = injected.hits().map(kindOf)
    // The failed rows may have been those of the deploy; then no request was rejected.
    const isMatch = fault.kind !== 'rows' || wereRejected(requests)
    if (kinds.includes(fault.kind) && isMatch) return pid
    // Each commit writes a different number of pages.
    if (kinds.includes('meta') || kinds.includes('mark')) await comeBack()
    return null
  })
}

/** After a fully rejected commit the state is known; otherwise only the disk can tell. */
async function comeBack(): Promise<void> {
  const { daemon } = suite
  assert.equal(await daemon.ended(), 'SIGKILL')
  const words = /(the store is in panic|the store shows data that the disk did not store).*berthd exits/
  assert.match(daemon.log.findLast((line) => line.includes('"fatal"'))!, words)
  await daemon.start()
}

for (const fault of sized(smoke, all)) {
  const { kind, call, error } = fault
  const outcome = kind === 'rows' ? 'is refused and nothing more' : 'ends the daemon, which comes back'
  test(`${error} in a ${call} of ${kind} ${outcome}; acknowledged data stays`, options, async (t) => {
    const service = await createService(t, suite.api, await pageApp('page', 'RUN sleep 3'), { deploy: false })
    const deploy = await service.request()
    await until('its build', async () => (await suite.api.get(`/deploys/${deploy.id}`)).phase === 'building')
    const requests: CreateRequest[] = []

    const pid = await hit(t, fault, requests)
    if (kind !== 'rows') await comeBack()

    const { api } = suite
    if (kind === 'rows') assert.equal(suite.daemon.pid, pid)
    await requireAcknowledged(api, requests, kind === 'rows')
    await requireAcknowledged(api, await createServices(api, 2), true)
    const { status, error } = await finishedDeploy(api, deploy.id)
    assert.deepEqual([status, error], ['live', null])
    assert.equal(await fetchPage(api, service.name), 'page')
    assert.equal(
      (await finishedDeploy(api, (await api.post(`/services/${service.name}/deploys`)).id)).status,
      'live',
    )
  })
}
