// The last change of each record in the feed matches the API, across deploys, failures and removals.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { FeedChange } from '../../src/api/feed.ts'
import type { Api } from '../support/daemon/api.ts'
import { dockerfile, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'

const suite = daemonSuite()

/** The GET response for a record; undefined when there is nothing to compare. */
type Look = (api: Api, change: FeedChange) => Promise<{ status: string; revision?: number } | undefined>

const read = async (api: Api, path: string) => {
  const { status, body } = await api.call('GET', path)
  return status === 404 ? { status: 'deleted' } : body
}

const looks: Record<string, Look> = {
  service: async (api, { id }) => {
    const { state, status, revision } = await read(api, `/services/${id}`)
    return { status: state ?? status, revision }
  },
  schedule: async (api, { id }) => {
    const { status } = await read(api, `/services/${id}/schedule`)
    return { status }
  },
  deploy: async (api, { id }) => read(api, `/deploys/${id}`),
  'job-run': async (api, { id }) => read(api, `/jobs/${id}`),
  disk: async (api, { id }) => {
    const trash = (await read(api, '/trash')) as { name: string }[]
    if (trash.some(({ name }) => name === id)) return { status: 'trashed' }
    const disks = (await read(api, '/disks')) as { name: string; kept: boolean }[]
    const disk = disks.find(({ name }) => name === id)
    return { status: disk ? (disk.kept ? 'kept' : 'attached') : 'deleted' }
  },
}

/** The last change by kind and id, collected from the call onwards. */
function followLast(t: TestContext, api: Api): Map<string, FeedChange> {
  const controller = new AbortController()
  t.after(() => controller.abort())
  const last = new Map<string, FeedChange>()
  const follow = async () => {
    for await (const { event, data } of api.events('/events', { signal: controller.signal })) {
      if (event !== 'change') continue
      const change = FeedChange.parse(JSON.parse(data))
      last.set(`${change.kind} ${change.id}`, change)
    }
  }
  follow().catch((error: unknown) => {
    if (!controller.signal.aborted) throw error
  })
  return last
}

async function differences(api: Api, last: Map<string, FeedChange>): Promise<string[]> {
  const found: string[] = []
  for (const [name, change] of last) {
    const view = await looks[change.kind]?.(api, change)
    if (!view) continue
    const isSame = view.status === change.status
    // Deleting a service also deletes the records below it.
    const isMissing =
      view.status === 'deleted' && last.get(`service ${change.service_id}`)?.status === 'deleted'
    if (!isSame && !isMissing) found.push(`${name}: ${change.status}, GET returns ${view.status}`)
    const isOlder = view.revision !== undefined && change.revision !== view.revision
    if (isOlder) found.push(`${name}: revision ${change.revision}, GET returns ${view.revision}`)
  }
  return found
}

async function agree(api: Api, last: Map<string, FeedChange>, kinds: string[]): Promise<void> {
  let found: string[] = []
  const isSettled = async () => {
    found = await differences(api, last)
    return found.length === 0 && kinds.every((kind) => [...last.values()].some((one) => one.kind === kind))
  }
  await until('the feed to agree with the API', isSettled).catch((error: unknown) => {
    assert.deepEqual(found, [], String(error))
    throw error
  })
}

test('the last change of a service, a deploy, a run, a schedule and a disk matches GET', async (t) => {
  const { api } = suite
  const last = followLast(t, api)
  await until('the stream', async () => {
    await api.call('PUT', '/registries/localhost:1', { username: 'a', password: 'b', verify: false })
    return last.size > 0
  })
  const files = { Dockerfile: await dockerfile() }
  const worker = { type: 'background_worker', start_command: 'sleep 600', disk_mount_path: '/data' }
  const { name, deploy, first } = await createService(t, api, files, worker)
  assert.equal(first!.status, 'live', first!.error)
  const broken = await createService(t, api, { Dockerfile: 'FROM scratch\nCOPY nothing /' }, worker)
  assert.equal(broken.first!.status, 'failed')
  const cron = { type: 'cron_job', schedule: '0 3 1 1 *', start_command: 'true' }
  const nightly = await createService(t, api, files, cron)
  await agree(api, last, ['service', 'deploy', 'schedule', 'disk'])

  await deploy({ Dockerfile: 'FROM scratch\nCOPY nothing /' })
  const { id: run } = await api.post(`/services/${nightly.name}/jobs`, {})
  await until('the run', async () => (await api.get(`/jobs/${run}`)).finished_at)
  await api.post(`/services/${nightly.name}/suspend`)
  await api.post(`/services/${name}/suspend`)
  await agree(api, last, ['job-run'])
  await api.post(`/services/${nightly.name}/resume`)
  await api.post(`/services/${name}/resume`)
  await agree(api, last, [])

  await api.call('DELETE', `/services/${name}?delete_disk=true`)
  await api.call('DELETE', `/services/${nightly.name}`)
  await agree(api, last, [])
  const services = [...last.values()].filter(({ kind }) => kind === 'service')
  assert.ok(services.length >= 3, `${services.length} services`)
  const [disk] = [...last.values()].filter(({ kind }) => kind === 'disk')
  await until('the disk in the trash', async () => last.get(`disk ${disk!.id}`)?.status === 'trashed')
})
