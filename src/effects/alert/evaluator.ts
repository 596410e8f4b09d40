// Reads the transitions of all actors in the order of their commits, and enters what they say about the
// rules. How far it read is stored after that, so a crash repeats transitions and loses none.
import type { ActivityEntry } from '../../../storage/activity.ts'
import { SharedRounds } from '../../async/shared-rounds.ts'
import { messageOf } from '../../errors.ts'
import type { SharedPorts } from '../ports.ts'
import type { AlertBook, Judgement } from './book.ts'
import { isRelevant, judge } from './transitions.ts'

const batchSize = 500
/** Transitions that say nothing are read again after a crash, at most so many. */
const savedEvery = 1000
const retryMs = 5000

export class AlertEvaluator {
  readonly #ports: SharedPorts
  readonly #book: AlertBook
  readonly #rounds: SharedRounds
  #read: number
  #saved: number
  #unsubscribe: () => void = () => undefined
  #retry: NodeJS.Timeout | undefined

  constructor(ports: SharedPorts, book: AlertBook) {
    this.#ports = ports
    this.#book = book
    this.#rounds = new SharedRounds(() => this.#readOn())
    const { storage } = ports
    // What happened before the server knew of alerts is not reported.
    this.#read = storage.alerts.progress() ?? storage.changes.head()
    this.#saved = storage.alerts.progress() === null ? -savedEvery : this.#read
  }

  start(): void {
    this.#unsubscribe = this.#ports.storage.changes.subscribe(({ transition }) => {
      if (transition && isRelevant(transition)) this.#go()
    })
    this.#go()
  }

  /** Resolves when the store is no longer used. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    clearTimeout(this.#retry)
    await this.#rounds.settled()
  }

  #go(): void {
    this.#rounds.run().catch((error: unknown) => {
      this.#ports.logger.warn({ reason: messageOf(error) }, 'alerts could not be stored; trying again')
      clearTimeout(this.#retry)
      this.#retry = setTimeout(() => this.#go(), retryMs).unref()
    })
  }

  async #readOn(): Promise<void> {
    const { storage } = this.#ports
    for (;;) {
      const { entries, last } = storage.activity.after(this.#read, { limit: batchSize, accepts: isRelevant })
      const isEnd = last === this.#read
      const found = entries.flatMap((entry) => this.#judge(entry))
      await this.#enter(found)
      for (const { service_id: id, at, kind, status } of entries)
        if (isRemoval(kind, status) && id !== null) await this.#book.close(id, at, 'it was deleted')
      this.#read = last
      if (found.length > 0 || last - this.#saved >= savedEvery) {
        await storage.alerts.setProgress(last)
        this.#saved = last
      }
      if (isEnd) return
    }
  }

  /** A record that cannot be judged must not stop all alerts. */
  #judge(entry: ActivityEntry): Judgement[] {
    try {
      return judge(this.#ports.storage, entry)
    } catch (error) {
      this.#ports.logger.warn({ err: error, actor: entry.actor_id }, 'a transition cannot be judged')
      return []
    }
  }

  async #enter(found: readonly Judgement[]): Promise<void> {
    const groups = new Map<string, Judgement[]>()
    for (const finding of found) {
      const key = `${finding.rule} ${finding.subject.id}`
      groups.set(key, (groups.get(key) ?? []).concat(finding))
    }
    for (const group of groups.values()) await this.#book.enter(group)
  }
}

function isRemoval(kind: string, status: string): boolean {
  return (
    (kind === 'service-removal' && status === 'removed') || (kind === 'datastore' && status === 'deleted')
  )
}
