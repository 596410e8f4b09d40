// The deploys of several services, of every kind of source.
import { startRegistry } from '../../support/docker/registry.ts'
import { type DockerState, describeDocker, readDocker, untilAtRest } from '../docker-state.ts'
import type { Drill } from '../drill.ts'
import { countBy, type KillPlan } from '../kills.ts'
import { hasWord, type Part, type PartKind } from '../part.ts'
import { list } from '../report.ts'
import { createApp } from './apps.ts'
import { checkFiles, checkRows } from './files.ts'
import { checkPromises } from './promises.ts'
import { checkServing, keepImages } from './serving.ts'
import { type Settled, settle } from './settled.ts'
import { type Book, cancelDeploys, deleteService, type User, useServices } from './users.ts'

const kills: KillPlan = {
  moments: { start: 20, status: 32, request: 18, any: 30 },
  statuses: {
    fetching: 2,
    building: 2,
    pulling: 2,
    preparing: 2,
    starting: 4,
    checking: 3,
    switching: 4,
    failed: 2,
    canceled: 3,
    deactivated: 4,
    deleting: 4,
  },
  rareShare: 0.4,
}

const nothing: Settled = { deploys: [], services: [], recordOf: () => null }
const noObjects: DockerState = { containers: [], images: [], dangling: [], networks: [], volumes: [] }
const names = ['shop', 'blog', 'mail', 'wiki']
const kinds = ['git', 'image', 'archive', 'git'] as const

export const deploys: PartKind = {
  daemonArgs: () => [`--keep-images=${keepImages}`],
  prepare: async () => ({}),
  async open(drill) {
    const users = await createUsers(drill)
    return openPart({ drill, services: [], deploys: new Map() }, users)
  },
}

/** One user per kind of source, and a random number of further git users. */
async function createUsers({ chance, victim, scope }: Drill): Promise<User[]> {
  const site = { scope, nonce: victim.prefix, registry: await startRegistry(scope) }
  const users = names.slice(0, chance.whole(3, 4)).map(async (name, index) => ({
    app: await createApp(kinds[index]!, name, site, chance.fork()),
    // One of them has a disk: its instances stop before the next ones start.
    hasDisk: index === 1,
    isLasting: index === 0,
  }))
  return Promise.all(users)
}

function openPart(book: Book, users: User[]): Part {
  const { drill, services } = book
  const { chance, victim, ledger } = drill
  let settled = nothing
  let docker = noObjects
  return {
    kills,
    use: () => [
      ...users.map((user) => useServices(book, user, chance.fork())),
      cancelDeploys(book, chance.fork()),
    ],
    async check(api) {
      settled = await settle(api, book)
      await untilAtRest(victim.prefix)
      await checkPromises(api, book, settled)
      docker = await checkServing(api, book, settled)
    },
    async checkWithoutDaemon() {
      const after = describeDocker(await readDocker(victim.prefix, drill.isForeign))
      if (after.join() !== describeDocker(docker).join())
        ledger.addViolation('instances run without the daemon', '', after)
    },
    checkFiles: (storage, isEmpty) =>
      checkFiles(
        storage,
        isEmpty ? { drill, settled: nothing, docker: noObjects } : { drill, settled, docker },
      ),
    checkRows: (view, isEmpty) => checkRows(view, { drill, settled: isEmpty ? nothing : settled }),
    loggedIds: () => settled.deploys.filter(({ record }) => record).map(({ entry }) => entry.id),
    owns: (text) =>
      hasWord(text, [...names, ...services.map(({ id }) => id)]) ||
      book.deploys.has(/dep-[0-9a-z]+/.exec(text)?.[0] ?? ''),
    async removeAll() {
      for (const service of services.filter(({ isDeleted }) => !isDeleted)) await deleteService(book, service)
    },
    figures: () => [
      ['services', services.length],
      ['deploys', list(countBy(settled.deploys, ({ record }) => record?.status ?? 'deleted'))],
    ],
    proofs: () => ({ deploys: settled.deploys.length }),
  }
}
