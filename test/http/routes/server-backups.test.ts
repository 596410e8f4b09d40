// Backups of the server over HTTP with a real daemon: who may, what is stored, a kill, and the schedule.
import { deepEqual, equal, match } from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { identityToRecipient } from 'age-encryption'
import { createRecoveryKey, readRecipient } from '../../../src/server-backup/keys.ts'
import { restoreServer } from '../../../src/server-backup/restore.ts'
import { startDaemon } from '../../support/daemon/daemon.ts'
import { until } from '../../support/daemon/service.ts'
import { owner, signIn, signUp } from '../../support/http/session.ts'
import { filesWith } from '../../support/storage/canary.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('a session starts and downloads a backup of the server, and a token only lists', async (t) => {
  const daemon = await startDaemon(t)
  const { api, dataDir } = daemon
  const session = await signUp(api.url, dataDir)
  const asSession = (method: string, path: string) =>
    fetch(`${api.url}/api/v1${path}`, { method, headers: session })

  const byToken = await api.call('POST', '/server-backups')
  deepEqual([byToken.status, byToken.body.code], [403, 'session_required'])
  const ended = (id: string) =>
    until(`${id} to end`, async () => {
      const backup = await api.get(`/server-backups/${id}`)
      return backup.status === 'running' ? null : backup
    })
  const start = async () => {
    const response = await asSession('POST', '/server-backups')
    equal(response.status, 202)
    return ended(((await response.json()) as { id: string }).id)
  }

  const without = await start()
  deepEqual([without.status, without.error_code], ['failed', 'backup_key_missing'])
  const { key } = await createRecoveryKey(dataDir)
  const backup = await start()
  deepEqual([backup.status, backup.trigger, backup.error], ['stored', 'manual', null])
  equal((await api.call('GET', `/server-backups/${backup.id}/content`)).body.code, 'session_required')
  const content = await asSession('GET', `/server-backups/${backup.id}/content`)
  const target = join(temporaryDirectory(t), 'restored')
  const { server_id } = await restoreServer(content.body!, { dataDir: target, unlock: { key } })
  match(server_id, /^[0-9a-f]{16}$/)

  equal((await asSession('DELETE', `/server-backups/${backup.id}`)).status, 204)
  await until('the file to be removed', async () => !existsSync(backup.file))
  // The file goes before the record.
  await until('only the failed one to be listed', async () => {
    return (await api.get('/server-backups')).length === 1
  })
})

test('of two requests at once, one starts a backup and the other is refused', async (t) => {
  const { api, dataDir } = await startDaemon(t)
  const headers = await signUp(api.url, dataDir)
  await createRecoveryKey(dataDir)
  const start = () => fetch(`${api.url}/api/v1/server-backups`, { method: 'POST', headers })
  const statuses = (await Promise.all([start(), start()])).map(({ status }) => status)
  deepEqual(statuses.sort(), [202, 409])
})

test('a backup that a kill interrupts is made again, and no partial file stays', async (t) => {
  const daemon = await startDaemon(t)
  await signUp(daemon.api.url, daemon.dataDir)
  await createRecoveryKey(daemon.dataDir)
  const session = await signIn(daemon.api.url)
  const response = await fetch(`${daemon.api.url}/api/v1/server-backups`, {
    method: 'POST',
    headers: session,
  })
  const { id } = (await response.json()) as { id: string }

  await daemon.kill()
  await daemon.start()

  const backup = await until('the backup to end', async () => {
    const found = await daemon.api.get(`/server-backups/${id}`)
    return found.status === 'running' ? null : found
  })
  equal(backup.status, 'stored')
  deepEqual(readdirSync(join(daemon.dataDir, 'server-backups')), [backup.file.split('/').at(-1)])
})

test('the setup page shows the recovery key once, and the server does not keep it', async (t) => {
  const { api, dataDir, log } = await startDaemon(t)
  const code = readFileSync(join(dataDir, 'setup_code'), 'utf8').trim()
  const setup = () =>
    fetch(`${api.url}/setup`, {
      method: 'POST',
      body: new URLSearchParams({ code, ...owner }),
      headers: { 'sec-fetch-site': 'same-origin', origin: api.url },
    })

  const page = await setup()

  const [key = ''] = /AGE-SECRET-KEY-1\w+/.exec(await page.text()) ?? []
  deepEqual([page.status, page.headers.get('cache-control'), key.length], [200, 'no-store', 74])
  equal(readRecipient(dataDir), await identityToRecipient(key))
  deepEqual(await filesWith(dataDir, key), [])
  equal(
    log.some((line) => line.includes(key)),
    false,
  )
  equal((await (await setup()).text()).includes('AGE-SECRET-KEY'), false)
})
