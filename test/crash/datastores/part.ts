// Two datastores that are written to all the time, two with backups and restores, and some that come and go.
import { setTimeout as sleep } from 'node:timers/promises'
import Docker from 'dockerode'
import { ensureEngine } from '../../support/docker/engine.ts'
import type { Drill } from '../drill.ts'
import type { KillPlan } from '../kills.ts'
import { hasWord, type Part, type PartKind } from '../part.ts'
import { list } from '../report.ts'
import { checkContainers, networkUrl, type Site, untilLimited } from './limits.ts'
import { kinds } from './line-client.ts'
import { prepareDatastores } from './prepare.ts'
import { checkPromises, checkRows } from './promises.ts'
import {
  type Book,
  churnDatastores,
  create,
  type DatastoreEntry,
  exerciseDatastore,
  limit,
  living,
  remove,
  untilAvailable,
} from './users.ts'
import { openVault, useVault, type Vault } from './vault.ts'
import { checkBreaks, checkWrittenRows, createWriter, type Writer, writeRows } from './writer.ts'

const kills: KillPlan = {
  moments: { start: 20, status: 30, request: 25, any: 25 },
  statuses: { creating: 4, restarting: 4, failed: 2, deleting: 3, available: 2, good: 2, done: 3 },
  rareShare: 0.2,
}
const recoveryMs = 150_000

export const datastores: PartKind = {
  daemonArgs: ({ postgres, redis }) => [`--postgres-image=${postgres}`, `--redis-image=${redis}`],
  prepare: prepareDatastores,
  async open(drill) {
    const book: Book = { drill, datastores: [], isLeftAlone: false }
    const docker = new Docker({ socketPath: (await ensureEngine()).replace('unix://', '') })
    const site = { docker, prefix: drill.victim.prefix, directory: drill.prepared.directory! }
    const entries = [await create(book, 'postgres', 'orders'), await create(book, 'redis', 'queue')]
    const vaults: Vault[] = []
    for (const kind of kinds) {
      const entry = await create(book, kind, `vault-${kind}`)
      vaults.push(await openVault(drill, site.directory, entry))
    }
    const writers: Writer[] = []
    for (const entry of entries) writers.push(...(await createWriters(drill, site, entry)))
    return openPart(book, site, entries, writers, vaults)
  },
}

async function createWriters(drill: Drill, site: Site, entry: DatastoreEntry): Promise<Writer[]> {
  await untilAvailable(drill, entry)
  const externalUrl = async () => (await drill.client.get(`/datastores/${entry.id}`)).external_url
  const internalUrl = await networkUrl(site, entry)
  return [
    await createWriter(site.directory, entry, 'port', externalUrl),
    await createWriter(site.directory, entry, 'network', async () => internalUrl),
  ]
}

function openPart(
  book: Book,
  site: Site,
  entries: DatastoreEntry[],
  writers: Writer[],
  vaults: Vault[],
): Part {
  const { drill } = book
  const { chance } = drill
  let isWritten = false
  let writing: Promise<unknown> = Promise.resolve()
  return {
    kills,
    use() {
      const isOver = () => isWritten
      writing = Promise.all(writers.map((writer) => writeRows(writer, site.directory, chance.fork(), isOver)))
      return [
        ...entries.map((entry) => exerciseDatastore(book, entry, chance.fork())),
        churnDatastores(book, chance.fork()),
        ...vaults.map((vault) => useVault(drill, site.directory, vault, chance.fork())),
      ]
    },
    async outage(chance) {
      // The responses may arrive only when Docker is back.
      const limiting = Promise.all(entries.map((entry) => limit(drill, entry, chance)))
      return async (end) => {
        await untilServed(drill, writers)
        await limiting
        book.isLeftAlone = true
        await Promise.all(entries.map((entry) => untilLimited(site, book, entry)))
        book.isLeftAlone = false
        end()
      }
    },
    async rest() {
      await untilServed(drill, writers)
      isWritten = true
      await writing
    },
    async check(api) {
      for (const entry of living(book)) await untilAvailable(drill, entry)
      await checkPromises(api, book)
      await checkContainers(site, book)
      checkBreaks(drill, writers)
    },
    checkWithoutDaemon: () => checkWrittenRows(drill, site.directory, writers),
    checkRows: (view, isEmpty) => checkRows(view, book, isEmpty ? [] : living(book)),
    owns: (text) =>
      hasWord(text, ['datastore', ...book.datastores.map(({ name }) => name)]) ||
      /^"?(dst|bak|rst)-/.test(text),
    async removeAll() {
      for (const entry of living(book)) await remove(drill, entry)
    },
    figures: () => [
      ...writers.map((writer): [string, string] => [nameOf(writer), describeWriter(writer)]),
      ...vaults.map(({ entry, outcomes }): [string, string] => [entry.name, list(outcomes)]),
      ['datastores created', book.datastores.length],
      ['restarts requested', drill.ledger.orders.filter(({ path }) => /restart$/.test(path)).length],
    ],
    proofs: () => ({
      ...Object.fromEntries(writers.map((writer) => [nameOf(writer), writer.acknowledged.length])),
      ...Object.fromEntries(vaults.map(({ entry, outcomes }) => [entry.name, Object.keys(outcomes).length])),
    }),
  }
}

/** Waits until every writer has a newly sent row acknowledged and every datastore reports that it serves. */
async function untilServed(drill: Drill, writers: Writer[]): Promise<void> {
  const waiting = writers.map((writer) => ({ writer, first: writer.sent.size + 1 }))
  const unserved = () => waiting.filter(({ writer, first }) => (writer.acknowledged.at(-1) ?? 0) < first)
  const deadline = Date.now() + recoveryMs
  while (unserved().length > 0 && Date.now() < deadline) await sleep(50)
  for (const { writer } of unserved())
    drill.ledger.addViolation('datastores recover', `${nameOf(writer)}: none is taken any more`)
  await Promise.all(
    [...new Set(writers.map(({ entry }) => entry))].map((entry) => untilAvailable(drill, entry)),
  )
}

const nameOf = ({ entry, way }: Writer) => `rows of ${entry.kind} by ${way}`

function describeWriter({ sent, acknowledged, breaks }: Writer): string {
  return `${acknowledged.length} of ${sent.size} acknowledged, ${breaks.length} broken connections`
}
