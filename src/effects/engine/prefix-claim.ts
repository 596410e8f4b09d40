// Ownership of the Docker prefix. Objects of another data directory prevent the start, unless an option says
// to take the prefix over from that directory. Then the edge and the network are replaced, and everything
// else stays. A running daemon must not lose its prefix, so each step checks for one first.
import { dirname } from 'node:path'
import type { Storage } from '../../../storage/index.ts'
import { isLocked } from '../../../storage/store/lock.ts'
import { sleep } from '../../async/sleep.ts'
import { listEdgeContainers, removeEdgeContainer } from '../../docker/containers/edge-container.ts'
import type { Engine } from '../../docker/engine/client.ts'
import { labels, type Owner } from '../../docker/engine/names.ts'
import { describeObject, type ForeignObject, listForeignObjects } from '../../docker/engine/ownership.ts'
import { removeForeignNetworks } from '../../docker/network/networks.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { isoNow } from '../iso-now.ts'

export interface PrefixClaim {
  engine: Engine
  owner: Owner
  storage: Pick<Storage, 'directory' | 'predecessors'>
  logger: Logger
  /** The server id of the data directory whose prefix is taken over; empty without a take-over. */
  takeOver: string
  /** How long to watch for activity. A running daemon starts a stopped instance within seconds. */
  watchMs?: number
}

const defaultWatchMs = 10_000
const pollIntervalMs = 500

/** Resolves when the prefix is ours. Throws `foreign_objects` when it is another data directory's. */
export async function claimPrefix(claim: PrefixClaim): Promise<void> {
  const { engine, owner, storage, takeOver } = claim
  const isKnown = (serverId: string) => storage.predecessors.serverIds().includes(serverId)
  const previous = (await listForeignObjects(engine, owner)).filter(({ serverId }) => serverId === takeOver)
  if (takeOver !== '' && previous.some((object) => isConflicting(object) || !isKnown(takeOver)))
    await takeOverFrom(claim, previous)
  const foreign = await listForeignObjects(engine, owner)
  const refused = foreign.filter((object) => isConflicting(object) || !isKnown(object.serverId))
  if (refused.length > 0) throw foreignObjects(owner, refused)
  if (foreign.length > 0) logForeignObjects(claim.logger, foreign)
}

/** All other objects can coexist with ours. */
function isConflicting({ kind, isEdge }: ForeignObject): boolean {
  return kind === 'network' || isEdge
}

async function takeOverFrom(claim: PrefixClaim, previous: ForeignObject[]): Promise<void> {
  const { engine, storage, takeOver, logger } = claim
  const owner = { ...claim.owner, serverId: takeOver }
  assertNoneRunning(takeOver, previous)
  assertNotLocked(storage.directory, previous)
  // A running daemon that shows no other sign would recreate its edge.
  for (const generation of await listEdgeContainers(engine, owner)) {
    await removeEdgeContainer(engine, owner, generation)
  }
  await watch(claim, previous)
  await removeForeignNetworks(engine, owner)
  await storage.predecessors.add(takeOver, isoNow())
  logger.warn(
    { prefix: owner.prefix, server: takeOver },
    'the prefix was taken over from another data directory',
  )
}

function assertNoneRunning(serverId: string, previous: ForeignObject[]): void {
  const running = previous.filter(({ isRunning, isEdge }) => isRunning && !isEdge)
  if (running.length === 0) return
  throw new Failure(
    'foreign_objects',
    `the prefix cannot be taken over while these run: ${running.map(describeObject).join(', ')}`,
    `stop them: docker stop $(docker ps --quiet --filter label=${labels.server}=${serverId})`,
  )
}

/** The edge mounts a folder of its data directory. We hold the lock of our own data directory. */
function assertNotLocked(ownDirectory: string, previous: ForeignObject[]): void {
  const places = previous.filter(({ isEdge }) => isEdge).flatMap(({ directories }) => directories)
  for (const directory of new Set(places.map((place) => dirname(place)))) {
    if (directory === ownDirectory || !isDirectoryLocked(directory)) continue
    throw daemonRuns(`the data directory ${directory} is in use`)
  }
}

function isDirectoryLocked(directory: string): boolean {
  try {
    return isLocked(directory)
  } catch (error) {
    throw new Failure('foreign_objects', messageOf(error), 'start as a user who may read it')
  }
}

/** Throws when an object of that data directory is started or created. */
async function watch({ engine, owner, takeOver, watchMs }: PrefixClaim, previous: ForeignObject[]) {
  const known = new Set(previous.filter(({ isEdge }) => !isEdge).map(({ id }) => id))
  const until = performance.now() + (watchMs ?? defaultWatchMs)
  do {
    await sleep(pollIntervalMs)
    const found = await listForeignObjects(engine, owner)
    const containers = found.filter(({ serverId, kind }) => serverId === takeOver && kind === 'container')
    const moved = containers.filter(({ id, isRunning }) => isRunning || !known.has(id))
    if (moved.length > 0) throw daemonRuns(`it started ${moved.map(describeObject).join(', ')}`)
  } while (performance.now() < until)
}

function daemonRuns(sign: string): Failure {
  return new Failure(
    'foreign_objects',
    `the prefix cannot be taken over: the daemon of the other data directory runs (${sign})`,
    'stop that daemon first',
  )
}

function foreignObjects({ prefix }: Owner, foreign: ForeignObject[]): Failure {
  const names = foreign.map(describeObject).join(', ')
  const [serverId] = foreign.map((object) => object.serverId).filter((id) => id !== '')
  const takeOver = serverId ? `, or start with --take-over-prefix ${serverId}` : ''
  return new Failure(
    'foreign_objects',
    `Docker has objects of the prefix '${prefix}' that belong to another data directory: ${names}`,
    `start with the data directory they belong to, or choose another --prefix${takeOver}`,
  )
}

/** Logged at every start while such objects exist: only the operator can remove them. */
function logForeignObjects(logger: Logger, foreign: ForeignObject[]): void {
  const named = (kind: ForeignObject['kind']) =>
    foreign.filter((object) => object.kind === kind).map(({ name }) => name)
  logger.warn({ containers: named('container'), volumes: named('volume') }, left)
}

const left =
  'the data directory that had this prefix before left these, and they are kept: save what you need, ' +
  'then docker rm NAME and docker volume rm NAME'

/** True for errors that a retry cannot fix. */
export function isRefusal(error: unknown): error is Failure {
  return codeOf(error) === 'foreign_objects'
}
