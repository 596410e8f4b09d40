// The effects of one deploy, each of which runs until the story ends it or the daemon dies.
// Every start is checked at once against the data on disk.
import { catalogue } from '../../machines/index.ts'
import type { SlotInput } from '../../machines/slot.ts'
import { Failure } from '../../src/errors.ts'
import type { Storage } from '../../storage/index.ts'
import { deployInput, grantedTurn, sha, slotOf } from '../support/machines/deploy-chart.ts'
import { pathOf } from '../support/machines/machine-run.ts'
import { instant } from '../support/supervisor/supervision.ts'
import { isOpen, type Plan } from './life.ts'

interface Attempt {
  slot: string
  isAborted: boolean
  succeed(): void
  fail(): void
}

/** How an aborted effect ends. */
export interface Late {
  lingerMs: number
  succeeds: boolean
}

/** Slots that create an external resource, and those that remove it. */
const makers = ['fetchSource', 'buildImage', 'pullImage', 'runPreDeploy', 'startInstances']
const removers = ['removeTraces', 'drainInstances']

export class Stage {
  /** Illegal starts of effects. */
  readonly wrongs: string[] = []
  /** The external resources that remain. */
  readonly traces = new Set<string>()
  readonly #actors: Storage['actors']
  readonly #id: string
  readonly #late: Late
  readonly #outputs: Record<string, object>
  readonly #inputs = new Map<string, string>()
  #running = new Set<Attempt>()

  constructor({ actors }: Storage, plan: Plan, late: Late) {
    this.#actors = actors
    this.#id = plan.id
    this.#late = late
    this.#outputs = outputsOf(plan)
  }

  get stateOnDisk(): string {
    return pathOf((this.#actors.get(this.#id)!.snapshot as { value: unknown }).value)
  }

  get isFinal(): boolean {
    return this.#actors.get(this.#id)!.final
  }

  /** The slot whose effect runs and was not aborted. */
  get slot(): string | undefined {
    return this.#current?.slot
  }

  succeed(): void {
    this.#current?.succeed()
  }

  /** Only where the chart handles it: bugs of effects are tested elsewhere. */
  fail(): void {
    if (isOpen(this.stateOnDisk)) this.#current?.fail()
  }

  /** The effects of one daemon, which start nothing after its death. */
  effects(isDead: () => boolean) {
    const effectOf = (slot: string) => async (input: SlotInput, signal: AbortSignal) => {
      if (isDead()) return never()
      this.#judge(slot, input)
      return this.#begin(slot, signal)
    }
    const slots = Object.keys(catalogue.deploy.machine.implementations.actors)
    return Object.fromEntries(slots.map((slot) => [slot, effectOf(slot)]))
  }

  /** Running effects died with their daemon; nothing receives their result. */
  abandon(): void {
    this.#running = new Set()
  }

  get #current(): Attempt | undefined {
    return [...this.#running].find(({ isAborted }) => !isAborted)
  }

  #judge(slot: string, input: SlotInput): void {
    const wrong = (what: string) => void this.wrongs.push(`${slot} started ${what}`)
    const done = this.#actors.history(this.#id).map(({ event }) => event)
    const state = this.stateOnDisk
    if (slotOf[state] !== slot) wrong(`while the disk has ${state}`)
    if (done.includes(`${slot}.done`) || done.includes(`${slot}.failed`)) wrong('although it had ended')
    for (const other of this.#running) wrong(`while ${other.slot} had not ended`)
    const requested = JSON.stringify(input)
    const before = this.#inputs.get(slot) ?? requested
    if (requested !== before) wrong(`with ${requested} after ${before}`)
    this.#inputs.set(slot, requested)
  }

  #begin(slot: string, signal: AbortSignal): Promise<object> {
    const alive = this.#running
    this.#leaveTraces(slot)
    return new Promise((resolve, reject) => {
      const end = (outcome: () => void) => () => {
        if (alive.delete(attempt)) outcome()
      }
      const succeed = end(() => {
        // Effects of a dead daemon change nothing.
        if (alive === this.#running) this.#leaveTraces(slot)
        if (alive === this.#running && removers.includes(slot)) this.traces.clear()
        resolve({ at: instant, ...this.#outputs[slot] })
      })
      const fail = end(() => reject(new Failure('build_failed', `${slot} failed`)))
      const attempt: Attempt = { slot, isAborted: false, succeed, fail }
      alive.add(attempt)
      signal.addEventListener('abort', () => {
        attempt.isAborted = true
        setTimeout(this.#late.succeeds ? succeed : fail, this.#late.lingerMs)
      })
    })
  }

  #leaveTraces(slot: string): void {
    if (makers.includes(slot)) this.traces.add(slot)
  }
}

function outputsOf(plan: Plan): Record<string, object> {
  const { source } = deployInput()
  const again = { ...source, kind: 'reuse' }
  const { formerDeployId, preDeploy, exclusive, isSuperseded } = plan
  const image = { image: `berth/shop:${plan.id}` }
  const reused = { image: 'berth/shop:dep-0', commitSha: sha, commitMessage: 'Before', source: again }
  const noCommit = { commitSha: null, commitMessage: null }
  return {
    awaitTurn: {
      ...grantedTurn,
      formerDeployId,
      preDeploy,
      exclusive,
      supersededBy: isSuperseded ? 'dep-newer' : null,
      reused: plan.source === 'reuse' ? reused : null,
    },
    fetchSource: plan.source === 'git' ? { commitSha: sha, commitMessage: 'Fix' } : noCommit,
    buildImage: image,
    pullImage: { ...image, source },
    startInstances: { port: 3000, portSource: 'default' },
    probeInstances: { port: 3000, portSource: 'default', healthCheck: 'port' },
  }
}

export const never = () => new Promise<never>(() => undefined)
