// A drill: a server is backed up while it deploys and restored, with kills at random moments in both.
// The restored server returns what the original did, but for what belongs to one process or one machine.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createRecoveryKey } from '../../src/server-backup/keys.ts'
import { packArchive } from '../support/archive/archive.ts'
import type { Api } from '../support/daemon/api.ts'
import { launchDaemon, startDaemon } from '../support/daemon/daemon.ts'
import { programArgs } from '../support/daemon/program.ts'
import { fetchPage, finishedDeploy, pageApp, until } from '../support/daemon/service.ts'
import { operations } from '../support/http/operations.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const home = fileURLToPath(new URL('../..', import.meta.url))
const kills = Number(process.env.BERTH_DRILL_KILLS ?? 10)
const longestMs = 4000

/** What differs between two processes or two points in time; no settings, records or secrets. */
const transient = new Set([
  'boot',
  'container_id',
  'cpu_percent',
  'disk_free_bytes',
  'disk_usage',
  'held',
  'last_used_at',
  'memory_bytes',
  'restart_count',
  'started_at',
  'uptime_seconds',
])
/** Numbers and findings of this moment, the log of what happens, and what is not data. */
const skipped = /metrics|\/doctor|\/activity|\/events|\/openapi|\/machines|\/logs|\/content|\/backups|\/auth/

interface Ended {
  code: number | null
  err: string
}

/** Runs `berthd`; with a time it is killed after that, unless it ends before. */
async function berthd(
  args: string[],
  { input = '', killAfterMs }: { input?: string; killAfterMs?: number } = {},
) {
  const child = spawn(process.execPath, [...programArgs('src/main'), ...args], { cwd: home })
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  let err = ''
  child.stderr.on('data', (text: Buffer) => {
    err += text.toString('utf8')
  })
  child.stdout.resume()
  child.stdin.on('error', () => undefined).end(input)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  return { code, err } satisfies Ended
}

const random = (mostMs: number) => Math.floor(Math.random() * mostMs)

/** All GET responses of the API with JSON, by path. */
async function readAll(api: Api): Promise<Record<string, unknown>> {
  const services = await api.get('/services')
  const ids: Record<string, string[]> = {
    services: services.map(({ id }: { id: string }) => id),
    deploys: [],
  }
  for (const id of ids.services!) {
    const deploys = await api.get(`/services/${id}/deploys`)
    ids.deploys!.push(...deploys.map((deploy: { id: string }) => deploy.id))
  }
  const found: Record<string, unknown> = {}
  for (const { method, path, isForSession, streams } of operations) {
    if (method !== 'GET' || isForSession || streams || skipped.test(path) || !path.startsWith('/api/v1'))
      continue
    const [, noun] = /^\/api\/v1\/(services|deploys)\/\{id\}/.exec(path) ?? []
    const parameters = path.match(/\{\w+\}/g) ?? []
    if (parameters.length > (noun ? 1 : 0)) continue
    for (const id of noun ? ids[noun]! : ['']) {
      const place = path.replace('/api/v1', '').replace('{id}', id)
      const { status, body } = await api.call('GET', place)
      found[place] = [status, withoutTransient(body)]
    }
  }
  return found
}

function withoutTransient(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTransient)
  if (value === null || typeof value !== 'object') return value
  const kept = Object.entries(value).filter(([name]) => !transient.has(name) && name !== 'request_id')
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutTransient(inner)]))
}

test('a server that was backed up under load and restored is the same server', async (t) => {
  const daemon = await startDaemon(t)
  const { api, dataDir, prefix } = daemon
  const archive = await packArchive(await pageApp('from a backup'))
  const deploy = async (name: string) => {
    const { id } = await api.post(`/services/${name}/deploys/upload`, archive)
    return id as string
  }
  const names = ['shop', 'web']
  for (const name of names) {
    await api.post('/services', {
      name,
      type: 'web_service',
      instances: 1,
      env: [{ key: 'NAME', value: name }],
    })
    equal((await finishedDeploy(api, await deploy(name))).status, 'live')
  }
  const { key } = await createRecoveryKey(dataDir)
  const folder = temporaryDirectory(t)
  const backup = join(folder, 'server.age')

  // Deploys run during the backups. Every killed backup leaves the earlier file, or none.
  let isLoaded = true
  const load = (async () => {
    while (isLoaded) for (const name of names) await finishedDeploy(api, await deploy(name))
  })()
  const back = (killAfterMs?: number) =>
    berthd(['backup', backup, '--data-dir', dataDir], killAfterMs === undefined ? {} : { killAfterMs })
  for (let kill = 0; kill < kills; kill++) await back(random(longestMs))
  const underLoad = await back()
  deepEqual(underLoad, { code: 0, err: '' })
  isLoaded = false
  await load
  const target = join(folder, 'restored')
  const restore = (killAfterMs?: number) =>
    berthd(
      ['restore', backup, '--data-dir', target],
      killAfterMs === undefined ? { input: key } : { input: key, killAfterMs },
    )
  for (let kill = 0; kill < kills && !existsSync(target); kill++) await restore(random(longestMs))
  if (!existsSync(target)) deepEqual(await restore(), { code: 0, err: '' })
  equal(existsSync(`${target}.restoring`), false)

  // A quiet server is compared: a backup under load shows deploys in the middle.
  equal((await back()).code, 0)
  deepEqual(readdirSync(join(dataDir, 'backup-work')), [])
  const before = await readAll(api)
  const same = join(folder, 'same')
  deepEqual(await berthd(['restore', backup, '--data-dir', same], { input: key }), { code: 0, err: '' })
  await daemon.stop()
  const args = ['--prefix', prefix]
  // The same moment first: what it does not know, the older one removes.
  for (const directory of [same, target]) {
    const restored = await launchDaemon({ dataDir: directory, args })
    try {
      ok((await restored.api.get('/info')).held !== null)
      const services = await restored.api.get('/services')
      deepEqual(services.map(({ name }: { name: string }) => name).sort(), names)
      if (directory === same) {
        for (const name of names) {
          const page = () => fetchPage(restored.api, name).then((text) => text.includes('from a backup'))
          await until(`${name} to answer`, page)
        }
        deepEqual(await readAll(restored.api), before)
      }
    } finally {
      await restored.stop()
    }
  }
})

test('a schedule makes backups, and keeps as many as it should', async (t) => {
  const schedule = ['--server-backup-schedule', '* * * * *', '--server-backup-keep', '1']
  const { api, dataDir } = await startDaemon(t, { args: schedule })
  await createRecoveryKey(dataDir)
  const stored = async () => {
    const backups = await api.get('/server-backups')
    return backups.filter(({ status }: { status: string }) => status === 'stored')
  }
  const first = await patiently(async () => (await stored())[0]?.id)
  await patiently(async () => {
    const [newest, ...others] = await stored()
    return newest && newest.id !== first && others.length === 0
  })
  equal(readdirSync(join(dataDir, 'server-backups')).length, 1)
})

/** A schedule is no shorter than a minute. */
async function patiently<T>(look: () => Promise<T>): Promise<T> {
  for (const endAt = Date.now() + 300_000; Date.now() < endAt; await sleep(1000)) {
    const found = await look()
    if (found) return found
  }
  throw new Error('timed out')
}
