// Job runs of a service that are requested and canceled, and three schedules that are due every minute.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findLeftovers } from '../../support/daemon/leftovers.ts'
import { ensureEngine } from '../../support/docker/engine.ts'
import { busyboxImage } from '../../support/docker/images.ts'
import { saveImage } from '../../support/docker/namespace-engine.ts'
import { createRepository } from '../../support/git/repository.ts'
import { countBy, type KillPlan } from '../kills.ts'
import { hasWord, type Part, type PartKind } from '../part.ts'
import { list } from '../report.ts'
import { checkOwners, noOrphans } from '../stored.ts'
import { freePort, listenForMarks } from './marks.ts'
import { checkPromises } from './promises.ts'
import { endSchedules, type SettledRun, settleRuns } from './settled.ts'
import { taskOf } from './tasks.ts'
import {
  type Book,
  createCron,
  createTools,
  cronServices,
  type JobService,
  openRuns,
  startOwnRuns,
  startRun,
  startRuns,
  watchSchedules,
} from './users.ts'

const kills: KillPlan = {
  moments: { start: 14, status: 32, request: 20, instant: 40, any: 20 },
  statuses: { pending: 4, running: 5, succeeded: 3, failed: 4, canceled: 5, due: 2 },
  rareShare: 0,
}
const overlaps = ['skip', 'queue', 'replace'] as const
const names = ['tools', ...overlaps.map((overlap) => `cron-${overlap}`)]
const recoveryMs = 150_000

export const jobs: PartKind = {
  daemonArgs: ({ port }) => [`--host-ports=${port}`],
  async prepare(directory, isEnginePrivate) {
    const image = await busyboxImage()
    if (isEnginePrivate) await saveImage(await ensureEngine(), image, join(directory, 'busybox.tar'))
    return { image, port: String(await freePort()) }
  },
  async open(drill) {
    const { scope, prepared, chance } = drill
    const markPort = Number(prepared.port)
    const repository = createRepository(scope)
    repository.commit('First', { Dockerfile: `FROM ${prepared.image}\nCMD ["true"]\n` })
    const marks = await listenForMarks(scope, markPort)
    const repoUrl = repository.directory
    const book: Book = { drill, services: [], entries: new Map(), marks, markPort, repoUrl }
    const tools = await createTools(book)
    for (const overlap of overlaps) await createCron(book, overlap, chance.whole(1, 1e9))
    return openPart(book, tools)
  },
}

function openPart(book: Book, tools: JobService): Part {
  const { drill, services, marks } = book
  const { chance, ledger, victim } = drill
  let runs: SettledRun[] = []
  const knownIds = () => runs.filter(({ record }) => record !== null).map(({ id }) => id)
  return {
    kills,
    use: () => [
      startRuns(book, tools, chance.fork()),
      startRuns(book, tools, chance.fork()),
      ...cronServices(book).map((service) => startOwnRuns(book, service, chance.fork())),
      watchSchedules(book),
    ],
    async outage(chance) {
      const { id } = await startRun(book, tools, taskOf('quick', chance))
      return async (end) => {
        end()
        const deadline = Date.now() + recoveryMs
        while (openRuns(book).has(id) && Date.now() < deadline) await sleep(50)
        if (openRuns(book).has(id))
          ledger.addViolation('runs go on after a restart of Docker', `${id} is not over`)
      }
    },
    async check(api) {
      const schedules = await endSchedules(api, book)
      runs = await settleRuns(api, book)
      await checkPromises(api, book, runs, schedules)
      // Finished runs have no container, and a cron service has no instance.
      const { containers } = await findLeftovers(victim.prefix)
      const isInstance = (name: string) => name.startsWith(`${victim.prefix}-tools-`) && name.endsWith('-0')
      for (const name of containers.filter((name) => !isInstance(name) && !drill.isForeign(name)))
        ledger.addViolation('containers of finished runs are removed', name)
    },
    checkFiles({ addresses }) {
      for (const id of addresses.deployIds())
        if (id.startsWith('job-')) ledger.addViolation(noOrphans, `${id} has finished but holds an address`)
    },
    checkRows(view, isEmpty) {
      const ids = isEmpty ? [] : knownIds()
      checkOwners(view, drill, isEmpty ? [] : services.map(({ id }) => id))
      for (const { id, final } of view.actors.filter((actor) => actor.id.startsWith('job-'))) {
        if (!final) ledger.addViolation('every run ends', `${id} has not finished on disk`)
        if (!ids.includes(id)) ledger.addViolation(noOrphans, `a row of ${id}, which is unknown`)
      }
    },
    loggedIds: () => [...knownIds(), ...services.map(({ deployId }) => deployId)],
    owns: (text) =>
      hasWord(text, [...names, ...services.flatMap(({ id, deployId }) => [id, deployId])]) ||
      text.startsWith('job-'),
    async removeAll() {
      for (const { id } of services)
        await drill.client.remove(`/services/${id}`, 'delete_disk=true&purge=true')
    },
    figures: () => [
      ['runs', list(countBy(runs, outcomeOf))],
      ['runs by task', list(countBy(runs, ({ task }) => task.kind))],
      ['scheduled runs', runs.filter(({ entry }) => entry === null).length],
      ['skips reported', cronServices(book).reduce((sum, { skips }) => sum + skips.size, 0)],
      ['log lines', runs.reduce((sum, { lines }) => sum + lines.length, 0)],
    ],
    proofs: () => ({ 'runs started': new Set(marks.map(({ id }) => id)).size }),
  }
}

function outcomeOf({ record }: SettledRun): string {
  if (record === null) return 'lost'
  if (/which replaces it$/.test(record.error ?? '')) return 'replaced'
  if (/Docker engine was restarted/.test(record.error ?? '')) return 'ended by Docker'
  return record.status
}
