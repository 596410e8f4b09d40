// Keeps the packet filter of the private network equal to what is stored: an application reaches itself,
// what its env refers to, shared services, and the internet. The rules are computed from committed records
// only, so a restart computes the same ones.
import type { Storage } from '../../../storage/index.ts'
import { SharedRounds } from '../../async/shared-rounds.ts'
import { sleep } from '../../async/sleep.ts'
import { messageOf } from '../../errors.ts'
import type { Firewall } from '../../firewall/firewall.ts'
import { type Access, tableOf } from '../../firewall/rules.ts'
import type { Logger } from '../../logger.ts'
import type { PrivateNetwork } from '../engine/ports.ts'
import { createAccess, isSharedService } from './access.ts'

export interface IsolationState {
  enforced: boolean
  /** The reason why not; null when enforced. */
  reason: string | null
}

export interface IsolationOptions {
  storage: Storage
  firewall: Firewall
  prefix: string
  hostPorts: readonly number[]
  logger: Logger
}

const checkIntervalMs = 5000
/** Changes that are committed together are applied together. */
const debounceMs = 50

export class Isolation {
  readonly #options: IsolationOptions
  readonly #accessOf: () => Access
  readonly #closing = new AbortController()
  readonly #watching: Promise<void>
  readonly #unsubscribe: () => void
  #bridge: string | null = null
  /** The rules in the kernel; null if unknown. */
  #applied: string | null = null
  #reason: string | null = 'the Docker engine has not responded yet'
  readonly #rounds = new SharedRounds(() => this.#applyOnce())
  #applyTimer: NodeJS.Timeout | null = null

  constructor(options: IsolationOptions) {
    this.#options = options
    this.#accessOf = createAccess(options.storage)
    this.#unsubscribe = options.storage.changes.subscribe(({ kind }) => {
      // Changes by deploys and runs are applied when they allocate their addresses.
      if (kind === 'service') this.#scheduleApply()
    })
    this.#watching = this.#watch()
  }

  /** Sets the bridge that connects the containers. */
  open(bridge: string): void {
    this.#bridge = bridge
    this.#applied = null
    void this.apply()
  }

  /**
   * Resolves when the kernel has the rules for the current records. If it refuses them, `state` has the
   * reason, and they are retried. A call during a run waits for the next run, which reads the records again.
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
    if (this.#applyTimer) clearTimeout(this.#applyTimer)
    await this.#watching
    await this.#rounds.settled()
  }

  #scheduleApply(): void {
    this.#applyTimer ??= setTimeout(() => {
      this.#applyTimer = null
      void this.apply()
    }, debounceMs).unref()
  }

  async #applyOnce(): Promise<void> {
    if (this.#bridge === null) return
    const { firewall, prefix, hostPorts } = this.#options
    try {
      const rules = { ...this.#accessOf(), table: tableOf(prefix), bridge: this.#bridge, hostPorts }
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
