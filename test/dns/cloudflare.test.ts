// Cloudflare's API as a zone: which requests go out, and what its answers come to. The server is a stand-in.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createCloudflare } from '../../src/dns/cloudflare.ts'
import { type ReceivedRequest, startFakeServer } from '../support/cli/fake-server.ts'

const token = 'cf-token-0123456789'
const record = { name: '_acme-challenge.apps.example.com', value: 'Xgbl5r68WPda0J9EgqqI' }
const signal = () => AbortSignal.timeout(30_000)

interface Row {
  id: string
  type: string
  name: string
  content: string
}

/** A zone example.com that has these records. */
async function start(t: TestContext, rows: Row[] = []) {
  const fail = (status: number, code: number, message: string) => ({
    status,
    body: { success: false, errors: [{ code, message }], result: null },
  })
  const done = (result: unknown) => ({ body: { success: true, errors: [], result } })
  const records = '/zones/zone-1/dns_records'
  const server = await startFakeServer(t, ({ method, path, headers, body }: ReceivedRequest) => {
    if (headers.authorization !== `Bearer ${token}`) return fail(403, 9109, 'Invalid access token')
    const { pathname, searchParams } = new URL(path, 'http://here')
    if (pathname === '/zones')
      return done(searchParams.get('name') === 'example.com' ? [{ id: 'zone-1' }] : [])
    if (pathname === records && method === 'POST') {
      const row = body as Row
      if (rows.some(({ content }) => content === row.content)) {
        return fail(400, 81058, 'An identical record already exists.')
      }
      rows.push({ ...row, id: `record-${rows.length + 1}` })
      return done(rows.at(-1))
    }
    if (pathname === records) return done(rows.filter(({ name }) => name === searchParams.get('name')))
    const at = rows.findIndex(({ id }) => pathname === `${records}/${id}`)
    if (method !== 'DELETE' || at < 0) return fail(404, 81044, 'Record does not exist.')
    rows.splice(at, 1)
    return done({ id: 'gone' })
  })
  return { server, rows, zone: createCloudflare(() => token, server.url) }
}

test('a record is created once in the closest zone, and only that value is removed', async (t) => {
  const other = { id: 'record-9', type: 'TXT', name: record.name, content: '"of another server"' }
  const { zone, rows, server } = await start(t, [other])

  await zone.present(record, signal())
  await zone.present(record, signal())
  equal(rows.length, 2)
  const request = server.requests.find(({ method }) => method === 'POST')
  deepEqual(request?.body, { type: 'TXT', name: record.name, content: `"${record.value}"`, ttl: 120 })
  await zone.cleanup(record, signal())
  await zone.cleanup(record, signal())

  deepEqual(rows, [other])
})

test('a token without the zone and a rejected token are reported without showing the token', async (t) => {
  const { server, zone } = await start(t)
  const foreign = await zone
    .present({ ...record, name: '_acme-challenge.example.org' }, signal())
    .catch(String)
  const refused = await createCloudflare(() => 'cf-wrong-token', server.url)
    .present(record, signal())
    .catch(String)

  match(String(foreign), /Cloudflare shows this token no zone of _acme-challenge\.example\.org/)
  match(String(refused), /Cloudflare refuses: Invalid access token \(9109\)/)
  doesNotMatch(`${foreign} ${refused}`, /cf-wrong-token|cf-token/)
})

test('an unavailable API and an unexpected response are reported', async (t) => {
  const { server, zone } = await start(t)
  const page = await startFakeServer(t, () => ({ status: 502, body: '<html>bad gateway</html>' }))
  match(
    String(
      await createCloudflare(() => token, page.url)
        .present(record, signal())
        .catch(String),
    ),
    /status 502/,
  )
  await server.stop()
  match(String(await zone.present(record, signal()).catch(String)), /Cloudflare cannot be reached/)
})
