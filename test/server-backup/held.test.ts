// A restored server is held: what acts by the clock waits, everything else works, and it says so.
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { catalogue, type Kind } from '../../machines/index.ts'
import { holdDirectory, isHeld, openHold, releaseDirectory } from '../../storage/hold.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { programArgs } from '../support/daemon/program.ts'
import { until } from '../support/daemon/service.ts'
import { soon } from '../support/effects/cron-site.ts'
import { signIn, signUp } from '../support/http/session.ts'
import { superviseSamples, temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const home = fileURLToPath(new URL('../..', import.meta.url))
const facts = { restored_at: '2026-01-02T03:04:05.000Z', backup_at: '2026-01-01T00:00:00.000Z' }

test('only slots that a chart has are held', () => {
  for (const [name, { machine, held = [] }] of Object.entries<Kind>(catalogue)) {
    const slots = Object.keys(machine.implementations.actors)
    deepEqual([name, held.filter((slot) => !slots.includes(slot))], [name, []])
  }
})

test('a held slot starts when another process activates the server, others do not', async (t) => {
  const directory = temporaryDirectory(t)
  holdDirectory(directory, facts)
  const storage = await temporaryStorage(t, directory)
  const begun: string[] = []
  const work = async ({ id }: { id: string }) => {
    begun.push(id)
    return { at: facts.restored_at }
  }
  const effects = { work }
  const held = superviseSamples(t, { storage, effects, held: ['work'] })
  const free = superviseSamples(t, { storage, effects })

  await held.spawn('held')
  await free.spawn('free')
  await soon('the free actor to work', () => begun.includes('free'))
  deepEqual(begun, ['free'])
  deepEqual(storage.hold.get(), facts)
  equal(isHeld(directory), true)
  releaseDirectory(directory)
  await soon('the held actor to work', () => begun.includes('held'))

  equal(storage.hold.get(), null)
  equal(isHeld(directory), false)
  releaseDirectory(directory)
})

test('a hold that cannot be read holds too, and a wait ends with its signal', async (t) => {
  const directory = temporaryDirectory(t)
  holdDirectory(directory, 'cut' as never)
  const hold = openHold(directory)
  t.after(() => hold.close())
  const leaving = new AbortController()
  const waiting = hold.released(leaving.signal).catch((error: Error) => error.name)
  leaving.abort()

  equal(await waiting, 'AbortError')
  hold.release()
  await hold.released(new AbortController().signal)
  equal(openHold(directory).get(), null)
})

test('a held server says so until a session or the host activates it', async (t) => {
  const daemon = await startDaemon(t)
  await signUp(daemon.api.url, daemon.dataDir)
  await daemon.stop()
  holdDirectory(daemon.dataDir, facts)
  await daemon.start()

  deepEqual((await daemon.api.get('/info')).held, { ...facts, missing: [] })
  const health = async () => (await fetch(`${daemon.api.url}/healthz?verbose`)).text()
  await until('its health to say so', async () => /\nheld/.test(await health()))
  // The cookie has the port in its name, which is another one now.
  const session = await signIn(daemon.api.url)
  const byToken = await daemon.api.call('POST', '/server/activate')
  deepEqual([byToken.status, byToken.body.code], [403, 'session_required'])
  const activate = () =>
    fetch(`${daemon.api.url}/api/v1/server/activate`, { method: 'POST', headers: session })
  deepEqual([(await activate()).status, (await activate()).status], [204, 204])
  equal((await daemon.api.get('/info')).held, null)

  const args = [...programArgs('src/main'), 'activate', '--data-dir', daemon.dataDir]
  const child = spawn(process.execPath, args, { cwd: home })
  match(await text(child.stdout), /was active already/)
})
