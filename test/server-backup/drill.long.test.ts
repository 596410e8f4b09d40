// A drill: a server is backed up while it deploys and restored, with kills at random moments in both.
// The restored server returns what the original did, but for what belongs to one process or one machine. It
// runs with an engine of its own, which has only the images.
//   BERTH_DRILL_KILLS, BERTH_DRILL_DEPLOYS: how many kills of each, and during how many deploys at least
import { deepEqual, equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createRecoveryKey } from '../../src/server-backup/keys.ts'
import { packArchive } from '../support/archive/archive.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { programArgs } from '../support/daemon/program.ts'
import { finishedDeploy, pageApp } from '../support/daemon/service.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import { saveImage } from '../support/docker/namespace-engine.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { runInside, whyNoNamespace } from '../support/system/namespace.ts'
import type { Passed, Restored } from './namespace-run.ts'
import { readAll } from './responses.ts'

const home = fileURLToPath(new URL('../..', import.meta.url))
/** Of backups, and as many of restores. */
const kills = Number(process.env.BERTH_DRILL_KILLS ?? 5)
/** At least so many. */
const deploys = Number(process.env.BERTH_DRILL_DEPLOYS ?? 4)
const page = 'from a backup'
const skip = (await whyNoNamespace()) ?? false

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

/**
 * Runs `work` until that many runs of it were killed, at random moments of the time that a whole run takes.
 * Calls `onEnd` after each, with whether the run came to its end.
 */
async function killed(
  work: (killAfterMs?: number) => Promise<Ended>,
  onEnd: (isWhole: boolean) => void,
): Promise<void> {
  const startedAt = performance.now()
  deepEqual(await work(), { code: 0, err: '' })
  const wholeMs = performance.now() - startedAt
  onEnd(true)
  for (let count = 0; count < kills; ) {
    const { code, err } = await work(Math.random() * wholeMs)
    if (code === null) count += 1
    else equal(code, 0, err)
    onEnd(code === 0)
  }
}

const digestOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

test('a server that was backed up under load and restored is the same server', { skip }, async (t) => {
  const daemon = await startDaemon(t)
  const { api, dataDir, prefix } = daemon
  const archive = await packArchive(await pageApp(page))
  const deploy = async (name: string) => {
    const { id } = await api.post(`/services/${name}/deploys/upload`, archive)
    return finishedDeploy(api, id as string)
  }
  const names = ['shop', 'web']
  for (const name of names) {
    await api.post('/services', {
      name,
      type: 'web_service',
      instances: 1,
      env: [{ key: 'NAME', value: name }],
    })
    equal((await deploy(name)).status, 'live')
  }
  const { key } = await createRecoveryKey(dataDir)
  const folder = temporaryDirectory(t)
  const backup = join(folder, 'server.age')

  // Deploys run during the backups. A killed backup leaves the earlier file as it was.
  let isLoaded = true
  let deployed = 0
  const load = (async () => {
    for (; isLoaded || deployed < deploys; deployed++) await deploy(names[deployed % names.length]!)
  })()
  const back = (killAfterMs?: number) =>
    berthd(['backup', backup, '--data-dir', dataDir], killAfterMs === undefined ? {} : { killAfterMs })
  let digest = ''
  let replaced = 0
  await killed(back, (isWhole) => {
    const now = digestOf(backup)
    // A kill may come between the last step of a backup and its end.
    if (!isWhole && now !== digest) replaced += 1
    digest = now
  })
  deepEqual(await back(), { code: 0, err: '' })
  isLoaded = false
  await load
  t.diagnostic(`${kills} killed backups during ${deployed} deploys; ${replaced} were killed at their end`)

  const target = join(folder, 'restored')
  const restore = (killAfterMs?: number) =>
    berthd(
      ['restore', backup, '--data-dir', target],
      killAfterMs === undefined ? { input: key } : { input: key, killAfterMs },
    )
  let restored = 0
  await killed(restore, () => {
    if (!existsSync(target)) return
    equal(existsSync(`${target}.restoring`), false)
    restored += 1
    rmSync(target, { recursive: true })
  })
  deepEqual(await restore(), { code: 0, err: '' })
  t.diagnostic(`${kills} killed restores, and ${restored} that came to their end`)
  deepEqual(readdirSync(folder).sort(), ['restored', 'server.age'])

  // A quiet server is compared: a backup under load shows deploys in the middle.
  equal((await back()).code, 0)
  deepEqual(readdirSync(join(dataDir, 'backup-work')), [])
  const before = await readAll(api)
  const same = join(folder, 'same')
  deepEqual(await berthd(['restore', backup, '--data-dir', same], { input: key }), { code: 0, err: '' })
  const directory = temporaryDirectory(t)
  for (const name of names) {
    const { live_deploy_id } = await api.get(`/services/${name}`)
    const { image } = await api.get(`/deploys/${live_deploy_id}`)
    await saveImage(await ensureEngine(), image, join(directory, `${name}.tar`))
  }
  await daemon.stop()
  const passed: Passed = { directory, dataDirs: [same, target], prefix, page }
  const url = new URL('./namespace-run.ts', import.meta.url).href
  const { lines } = await runInside(url, { RESTORE_RUN: JSON.stringify(passed) })
  const { outcome, failure } = JSON.parse(lines.at(-1)!) as { outcome: Restored; failure?: string }
  equal(failure, undefined)
  for (const { names: found, isHeld } of outcome) deepEqual([found, isHeld], [names, true])
  deepEqual(outcome[0]!.responses, JSON.parse(JSON.stringify(before)))
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
