// Strangers who request terminal logins without end: the store does not grow, and the owner gets in.
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startBerth } from '../support/cli/berth.ts'
import { startDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { until } from '../support/daemon/service.ts'
import { type SessionHeaders, signUp } from '../support/http/session.ts'
import { rawTables } from '../support/storage/store-fixtures.ts'

/** Requests from ever other networks of loopback, until the test ends. Status 0: no response. */
function flood(t: TestContext, url: string) {
  const statuses = new Map<number, number>()
  let count = 0
  let isOver = false
  const sendAll = async () => {
    while (!isOver && !statuses.has(0)) {
      const index = count++
      const from = `127.${100 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`
      const status = await requestLogin(url, from)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const all = Promise.all(Array.from({ length: 8 }, sendAll))
  const end = async () => {
    isOver = true
    await all
  }
  t.after(end)
  const untilMore = (more: number) => {
    const goal = count + more
    return until(`${more} more requests`, async () => count >= goal)
  }
  return { statuses, end, untilMore }
}

function requestLogin(url: string, localAddress: string): Promise<number> {
  const headers = { 'content-type': 'application/json' }
  return new Promise((resolve) => {
    const sent = request(`${url}/api/v1/auth/cli`, { method: 'POST', agent: false, localAddress, headers })
    // After the test the daemon is gone.
    sent
      .on('error', () => resolve(0))
      .on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode!))
      })
    sent.end('{"name":"stranger"}')
  })
}

async function startCodeOf({ api }: TestDaemon, session: SessionHeaders): Promise<string> {
  const page = await (await fetch(`${api.url}/account`, { headers: session })).text()
  const [, code] = /--code (\w{4}-\w{4}-\w{4})/.exec(page) ?? assert.fail('the page has no start code')
  return code!
}

async function approve({ api }: TestDaemon, session: SessionHeaders, shown: string): Promise<void> {
  const [, id] = /cli-login\?id=(\S+)/.exec(shown) ?? assert.fail(shown)
  const response = await fetch(`${api.url}/api/v1/auth/cli/${id}/approve`, {
    method: 'POST',
    headers: session,
  })
  assert.equal(response.status, 200)
}

/** The ids of the logins in the store of a running daemon, and whether each has ended. */
async function loginsIn({ dataDir }: TestDaemon): Promise<Map<string, boolean>> {
  const { actors = [] } = await rawTables(dataDir)
  const logins = actors.filter(([id]) => String(id).startsWith('cli-'))
  return new Map(logins.map(([id, row]) => [String(id), /"final":true/.test(row)]))
}

test('a flood of terminal logins neither grows the store nor keeps the owner out', async (t) => {
  const daemon = await startDaemon(t)
  const { url } = daemon.api
  const session = await signUp(url, daemon.dataDir)
  const storeFile = join(daemon.dataDir, 'store/data.mdb')
  const early = startBerth(t, ['login', url])
  await early.shows('cli-login?id=')
  const strangers = flood(t, url)
  await strangers.untilMore(500)
  const [sizeBytes, rows] = [statSync(storeFile).size, (await loginsIn(daemon)).size]

  await strangers.untilMore(2000)
  const refused = await startBerth(t, ['login', url]).ended()
  const late = startBerth(t, ['login', url, '--code', await startCodeOf(daemon, session)])
  await late.shows('cli-login?id=')
  for (const login of [early, late]) await approve(daemon, session, login.stderr)
  const ended = [await early.ended(), await late.ended()]
  const endedAt = performance.now()
  const laterRows = (await loginsIn(daemon)).size
  await until('the ended logins to leave the store', async () =>
    [...(await loginsIn(daemon)).values()].every((isFinal) => !isFinal),
  )
  const leftMs = performance.now() - endedAt
  const grownBytes = statSync(storeFile).size - sizeBytes
  await strangers.end()

  t.diagnostic(`responses: ${JSON.stringify([...strangers.statuses])}`)
  t.diagnostic(`rows: ${rows}, then ${laterRows}; the file grew by ${grownBytes} bytes`)
  t.diagnostic(`ended logins had left after ${Math.round(leftMs)} ms`)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /too many terminal logins at the moment/)
  assert.ok(refused.stderr.includes(`berth login ${url} --code CODE`), refused.stderr)
  for (const { code, stderr } of ended) assert.equal(code, 0, stderr)
  assert.deepEqual([...strangers.statuses.keys()].sort(), [201, 429])
  assert.ok(laterRows <= 100, `${laterRows} logins are in the store`)
  assert.ok(grownBytes <= 256 * 1024, `the store grew by ${grownBytes} bytes`)
  assert.ok(leftMs < 60_000, `ended logins left after ${leftMs} ms`)
})
