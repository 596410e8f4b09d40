// Keeps the packet filter of the private network equal to what is stored: an application reaches itself,
// what its env refers to, shared services, and the internet. The rules are computed from committed records
// only, so a restart computes the same ones.

import type { HeldAddress } from '../../../storage/addresses.ts'
import type { Storage } from '../../../storage/index.ts'
import { SharedRounds } from '../../async/shared-rounds.ts'
import { sleep } from '../../async/sleep.ts'
import { preDeployIndex } from '../../docker/engine/names.ts'
import { type Reference, referencesIn } from '../../domain/env-references.ts'
import { messageOf } from '../../errors.ts'
import type { Firewall } from '../../firewall/firewall.ts'
import { type Access, tableOf } from '../../firewall/rules.ts'
import type { Logger } from '../../logger.ts'
import type { PrivateNetwork } from '../engine/ports.ts'

interface IsolationState {
  enforced: boolean
  /** The reason why not; null when enforced. */
  reason: string | null
}

interface IsolationOptions {
  storage: Storage
  firewall: Firewall
  prefix: string
  hostPorts: readonly number[]
  logger: Logger
}

const checkIntervalMs = 5000

export class Isolation {
  readonly #options: IsolationOptions
  readonly #closing = new AbortController()
  readonly #watching: Promise<void>
  readonly #unsubscribe: () => void
  #bridge: string | null = null
  /** The rules in the kernel; null if unknown. */
  #applied: string | null = null
  #reason: string | null = 'the Docker engine has not responded yet'
  readonly #rounds = new SharedRounds(() => this.#applyOnce())

  constructor(options: IsolationOptions) {
    this.#options = options
    this.#unsubscribe = options.storage.changes.subscribe(({ kind }) => {
      // Changes by deploys and runs are applied when they allocate their addresses.
      if (kind === 'service') void this.apply()
    })
    this.#watching = this.#watch()
  }

  open(bridge: string): void {
    this.#bridge = bridge
    this.#applied = null
    void this.apply()
  }

  /**
   * Resolves when the kernel has the rules for the current records, or has refused them: `state` has the
   * reason, and they are retried. A call during a run waits for the next run.
   */
  apply(): Promise<void> {
    return this.#rounds.run()
  }

  state(): IsolationState {
    return { enforced: this.#reason === null, reason: this.#reason }
  }

  /** Stops the checks. The rules stay, because containers keep running. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#unsubscribe()
    await this.#watching
    await this.#rounds.settled()
  }

  async #applyOnce(): Promise<void> {
    if (this.#bridge === null) return
    const { storage, firewall, prefix, hostPorts } = this.#options
    try {
      const rules = { ...accessOf(storage), table: tableOf(prefix), bridge: this.#bridge, hostPorts }
      const text = JSON.stringify(rules)
      if (text === this.#applied) return
      this.#applied = null
      await firewall.apply(rules)
      this.#applied = text
      this.#report(null)
    } catch (error) {
      this.#report(messageOf(error))
    }
  }

  #report(reason: string | null): void {
    if (reason === this.#reason) return
    this.#reason = reason
    const { logger } = this.#options
    if (reason === null) logger.info({ shared: this.#sharedNames() }, isolatedText)
    else logger.warn({ reason }, notIsolatedText)
  }

  /** Names of shared services, for an operator who wants to restrict what an older version left open. */
  #sharedNames(): string[] {
    const { services, datastores } = this.#options.storage
    const sharedTargets = [
      ...services.list().filter(isSharedService),
      ...datastores.list().filter(({ id }) => datastores.isShared(id)),
    ]
    return sharedTargets.map(({ name }) => name)
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await sleep(checkIntervalMs, signal, { ref: false }).catch(() => undefined)
      if (this.#bridge === null || signal.aborted) continue
      if (this.#applied !== null && !(await this.#options.firewall.isInForce())) {
        this.#applied = null
        this.#options.logger.warn('the rules that isolate services were changed; applying them again')
      }
      await this.apply()
    }
  }
}

const isolatedText =
  'services are isolated from each other; every service may connect to those that are shared'
const notIsolatedText =
  'services are NOT isolated from each other, and reach metadata addresses and ports of this host'

export interface AddressPorts {
  storage: Storage
  isolation: Isolation
}

/** The address of a container that is about to start. Its rules are in force when this resolves. */
export async function allocateAddress(
  { storage, isolation }: AddressPorts,
  actorId: string,
  index: number,
  { range }: PrivateNetwork,
): Promise<string> {
  const address = await storage.addresses.allocate(actorId, index, range)
  await isolation.apply()
  return address
}

interface Holder {
  address: string
  ownerId: string
  /** Whether the name of its owner resolves to it; false for the container of a command. */
  isNamed: boolean
  /** The deploy whose env it has; null for a datastore. */
  deployId: string | null
}

/** By the current records. */
function accessOf(storage: Storage): Access {
  const holders = storage.addresses.list().flatMap((row) => holderOf(storage, row) ?? [])
  const byOwner = new Map<string, Holder[]>()
  for (const holder of holders) byOwner.set(holder.ownerId, [...(byOwner.get(holder.ownerId) ?? []), holder])
  const access: Access = { pairs: [], shared: [], hostPairs: [] }
  for (const { address, ownerId, isNamed, deployId } of holders) {
    if (isNamed && isShared(storage, ownerId)) access.shared.push(address)
    if (deployId === null) continue
    for (const own of byOwner.get(ownerId)!) {
      if (own.address !== address) access.pairs.push([address, own.address])
    }
    for (const reference of referencesOf(storage, deployId)) {
      const targetId = targetOf(storage, reference)
      if (targetId === null || targetId === ownerId) continue
      for (const target of byOwner.get(targetId) ?? []) {
        if (target.isNamed) access.pairs.push([address, target.address])
      }
      const port = reference.noun === 'datastore' ? storage.datastores.port(targetId) : null
      if (port !== null) access.hostPairs.push([address, port])
    }
  }
  return access
}

/** Null if its record no longer exists: its container is removed soon. */
function holderOf(storage: Storage, { deploy_id: actorId, index, address }: HeldAddress): Holder | null {
  if (storage.datastores.has(actorId)) return { address, ownerId: actorId, isNamed: true, deployId: null }
  const record = storage.actors.record(actorId)
  if (typeof record?.service_id !== 'string') return null
  const { service_id: ownerId } = record
  // The record of a job run names its deploy; that of a deploy does not.
  if (typeof record.deploy_id === 'string') {
    return { address, ownerId, isNamed: false, deployId: record.deploy_id }
  }
  return { address, ownerId, isNamed: index < preDeployIndex, deployId: actorId }
}

function referencesOf(storage: Storage, deployId: string): Reference[] {
  const env = storage.releases.get(deployId)?.env ?? []
  return env.flatMap(({ value }) => referencesIn(value)).filter((reference) => reference !== null)
}

function targetOf({ services, datastores }: Storage, { noun, name }: Reference): string | null {
  return noun === 'datastore' ? datastores.idOf(name) : (services.get(name)?.id ?? null)
}

function isShared({ services, datastores }: Storage, ownerId: string): boolean {
  return datastores.has(ownerId) ? datastores.isShared(ownerId) : isSharedService(services.get(ownerId))
}

/** A service from before this setting stays reachable by all. */
function isSharedService(row: { shared_network?: boolean } | null): boolean {
  return row !== null && (row.shared_network ?? true)
}
