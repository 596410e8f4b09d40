// Lists in pages: every record is in one of them, once, whatever the filters are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetchNewest } from '../../../src/cli/client/client.ts'
import { type RequestOptions, startApi } from '../../support/http/http-context.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { instant } from '../../support/supervisor/supervision.ts'

type Started = Awaited<ReturnType<typeof startApi>>

const idOf = (prefix: string, number: number) => `${prefix}-${String(number).padStart(26, '0')}`

/** Deploys and runs 1, 4, 7, … of the first service, 2, 5, 8, … of the second, 3, 6, 9, … of the third. */
async function startFilled(t: Parameters<typeof startApi>[0], count: number) {
  const api = await startApi(t)
  for (const number of [1, 2, 3])
    await api.storage.services.create(serviceRow({ id: `svc-${number}`, name: `web-${number}` }))
  for (let number = 1; number <= count; number++) {
    const service_id = `svc-${((number - 1) % 3) + 1}`
    const status = number % 2 ? 'live' : 'failed'
    for (const [kind, prefix] of [
      ['deploy', 'dep'],
      ['job-run', 'job'],
    ] as const)
      await api.storage.actors.create(
        transitionOf({ id: idOf(prefix, number), kind, service_id, final: true }, { status }),
      )
  }
  return api
}

/** The numbers of the records, page by page, along the links. */
async function readPages(
  { call }: Started,
  path: string,
  requested: RequestOptions = {},
): Promise<number[][]> {
  const pages: number[][] = []
  for (let next: string | null = `/api/v1${path}`; next; ) {
    const { status, headers, body } = await call('GET', next, requested)
    assert.equal(status, 200, JSON.stringify(body))
    pages.push((body as unknown as { id: string }[]).map(({ id }) => Number(id.slice(4))))
    next = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? null
    assert.ok(pages.length < 100, 'the links are broken')
  }
  return pages
}

test('the pages of a service contain all deploys, newest first, and the last one has no link', async (t) => {
  const api = await startFilled(t, 15)

  assert.deepEqual(await readPages(api, '/services/web-1/deploys?limit=2'), [[13, 10], [7, 4], [1]])
  assert.deepEqual(await readPages(api, '/services/web-2/jobs?limit=3'), [
    [14, 11, 8],
    [5, 2],
  ])
  assert.deepEqual(await readPages(api, '/services/web-1/deploys?limit=5'), [[13, 10, 7, 4, 1]])
})

test('the list over all services has one order, and filters leave no gap', async (t) => {
  const api = await startFilled(t, 9)

  assert.deepEqual(await readPages(api, '/deploys?limit=4'), [[9, 8, 7, 6], [5, 4, 3, 2], [1]])
  assert.deepEqual((await readPages(api, '/jobs?status=failed&limit=3')).flat(), [8, 6, 4, 2])
  assert.deepEqual((await readPages(api, '/deploys?service=web-2&status=live&limit=1')).flat(), [5])
  assert.deepEqual(await readPages(api, '/deploys?trigger=rollback'), [[]])
})

test('a page starts before a deleted id, and an invalid id is rejected', async (t) => {
  const api = await startFilled(t, 9)
  const requested = (query: string) => api.call('GET', `/api/v1/deploys?${query}`)

  await api.storage.actors.removeAll('deploy', 'svc-2')
  assert.deepEqual((await readPages(api, `/deploys?before=${idOf('dep', 5)}`)).flat(), [4, 3, 1])
  for (const query of ['before=5', `before=${idOf('job', 5)}`, 'before=', 'status=done', 'limit=x']) {
    const { status, body } = await requested(query)
    assert.deepEqual([status, body.code], [400, 'invalid_request'], query)
  }
})

test('the link contains no token, and keeps the filters', async (t) => {
  const api = await startFilled(t, 9)
  const query = 'access_token=bth_test&status=live&limit=2'

  const { headers } = await api.call('GET', `/api/v1/deploys?${query}`, { token: null })

  const link = `</api/v1/deploys?status=live&limit=2&before=${idOf('dep', 7)}>; rel="next"`
  assert.equal(headers.get('link'), link)
})

test('the command line requests as many pages as it needs', async (t) => {
  const api = await startFilled(t, 9)
  const requests: unknown[] = []
  const client = {
    async call<T>(_: string, path: string, { query }: { query: Record<string, unknown> }) {
      const { limit, before } = query
      requests.push(limit)
      const cursor = before ? `&before=${before}` : ''
      return (await api.call('GET', `/api/v1${path}?limit=${limit}${cursor}`)).body as T
    },
  }
  const list = async (limit: number, most?: number) =>
    (await fetchNewest(client as never, '/deploys', limit, most)).map(({ id }) => Number(id.slice(4)))

  assert.deepEqual(await list(7, 3), [9, 8, 7, 6, 5, 4, 3])
  assert.deepEqual(requests.splice(0), [3, 3, 1])
  assert.deepEqual(await list(1000, 4), [9, 8, 7, 6, 5, 4, 3, 2, 1])
  assert.deepEqual(requests.splice(0), [4, 4, 4])
  assert.deepEqual(await list(1000), [9, 8, 7, 6, 5, 4, 3, 2, 1])
  assert.deepEqual(requests, [500])
})

test('a token for one service sees nothing of others in the lists over all services', async (t) => {
  const api = await startFilled(t, 6)
  const rights = { role: 'read' as const, services: ['svc-1'], hint: 'role' }
  const dates = { created_at: instant, expires_at: null, last_used_at: null }
  const row = { id: 'tok-1', name: 'reader', ...rights, ...dates }
  await api.storage.commit((commit) => api.storage.tokens.insert(commit, 'bth_reader', row))
  const requested = { token: 'bth_reader' }

  assert.deepEqual(await readPages(api, '/deploys', requested), [[4, 1]])
  assert.deepEqual(await readPages(api, '/jobs?limit=1', requested), [[4], [1]])
  assert.deepEqual(await readPages(api, '/deploys?service=web-1', requested), [[4, 1]])
  for (const name of ['web-2', 'nobody']) {
    const { status, body } = await api.call('GET', `/api/v1/jobs?service=${name}`, requested)
    assert.deepEqual([status, body.code], [404, 'not_found'], name)
  }
})
