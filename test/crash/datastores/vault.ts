// The user of two datastores with backups: it writes a text, backs it up, writes another, and restores. After
// each the datastore must have exactly the text that the outcome promises.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Body } from '../../support/daemon/api.ts'
import { createLimit, type Drill } from '../drill.ts'
import type { Chance } from '../random.ts'
import { type Kind, runClient } from './line-client.ts'
import { type DatastoreEntry, untilAvailable } from './users.ts'

export interface Vault {
  entry: DatastoreEntry
  /** How many backups and restores had each status. */
  outcomes: Record<string, number>
}

const settleMs = 150_000
const attemptMs = 60_000
const ends = ['good', 'failed', 'done', 'canceled']

const statements: Record<Kind, { write(text: string): string[]; read: string[]; prepare: string[] }> = {
  postgres: {
    prepare: ['create table vault (text text)'],
    write: (text) => [`delete from vault; insert into vault values ('${text}')`],
    read: ['select text from vault'],
  },
  redis: { prepare: ['ping'], write: (text) => ['set', 'vault', text], read: ['get', 'vault'] },
}

export async function openVault(drill: Drill, directory: string, entry: DatastoreEntry): Promise<Vault> {
  await untilAvailable(drill, entry)
  const vault: Vault = { entry, outcomes: {} }
  await ask(drill, vault, directory, statements[entry.kind].prepare)
  return vault
}

/** Backs up and restores until the run ends. */
export async function useVault(drill: Drill, directory: string, vault: Vault, chance: Chance): Promise<void> {
  for (let number = 1; !drill.isOver; number++) {
    await sleep(chance.between(0, 3000))
    const [saved, later] = [`saved ${number}`, `later ${number}`]
    await write(drill, vault, directory, saved)
    const backup = await startAndFollow(drill, vault, 'backups', undefined)
    if (backup?.status !== 'good' || drill.isOver) continue
    await write(drill, vault, directory, later)
    const restore = await startAndFollow(drill, vault, 'restores', { backup_id: backup.id }, chance)
    if (restore) await requireText(drill, directory, vault, restore.status === 'done' ? saved : later)
    await drill.client.remove(`/backups/${backup.id}`, '')
  }
}

/** Returns the record once it has ended; null if Docker was away when it was requested. */
async function startAndFollow(
  drill: Drill,
  vault: Vault,
  what: 'backups' | 'restores',
  body: unknown,
  chance?: Chance,
): Promise<Body | null> {
  const { client, incidents, ledger } = drill
  const since = Date.now()
  // A backup needs a datastore that serves, and Docker.
  const mayBeRefused = ({ body }: Answer) =>
    ['conflict', 'datastore_not_available', 'docker_unavailable', 'docker_error'].includes(body?.code)
  const started = await client.order(`/datastores/${vault.entry.id}/${what}`, body, {
    mayBeRefused,
    isGone: () => true,
  })
  if (!started) return null
  if (chance?.isTrue(0.15)) {
    const path = `/restores/${started.id}/cancel`
    await client.ask({ method: 'POST', path }, ({ status }) => status === 409)
  }
  for (const isTooLate = createLimit(drill, settleMs); ; await sleep(100)) {
    const record = await client.get(`/${what}/${started.id}`)
    if (ends.includes(record.status)) {
      const label = `${what} ${record.status}`
      vault.outcomes[label] = (vault.outcomes[label] ?? 0) + 1
      const isExcused = incidents.wasEngineAway(since)
      if (record.status === 'failed' && !isExcused)
        ledger.addViolation('no backup or restore fails because of a kill', JSON.stringify(record))
      return record
    }
    if (!isTooLate()) continue
    ledger.addViolation('every backup and restore ends', JSON.stringify(record))
    return null
  }
}

async function requireText(drill: Drill, directory: string, vault: Vault, wanted: string): Promise<void> {
  const found = (await ask(drill, vault, directory, statements[vault.entry.kind].read)).trim()
  if (found !== wanted)
    drill.ledger.addViolation(
      'a restore is complete, or nothing was restored',
      `${vault.entry.name}: '${found}' is there, expected '${wanted}'`,
    )
}

async function write(drill: Drill, vault: Vault, directory: string, text: string): Promise<void> {
  await ask(drill, vault, directory, statements[vault.entry.kind].write(text))
}

/** Repeats until there is a response: Docker may be away. */
async function ask(drill: Drill, { entry }: Vault, directory: string, words: string[]): Promise<string> {
  for (const isTooLate = createLimit(drill, attemptMs); ; await sleep(200)) {
    try {
      const { external_url: url } = await drill.client.get(`/datastores/${entry.id}`)
      return await runClient(directory, entry.kind, url, ...words)
    } catch (error) {
      if (isTooLate()) throw error
    }
  }
}
