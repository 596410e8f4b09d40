// One deploy under a real supervisor over real storage, whose effects the test settles one by one.
// Mind: every start of an effect is judged at once, against what is on disk at that moment.
import { catalogue } from '../../machines/index.ts'
import type { SlotInput } from '../../machines/slot.ts'
import { Failure } from '../../src/errors.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import type { Storage } from '../../storage/index.ts'
import { deployInput, grantedTurn, sha, slotOf } from './deploy-life.ts'
import { pathOf } from './machine-run.ts'
import { serviceRow } from './stored.ts'
import { instant, silent } from './supervised.ts'

interface Attempt {
  slot: string
  succeed(): void
  fail(): void
}

export type DeployWorld = Awaited<ReturnType<typeof openDeployWorld>>

const outputs: Record<string, object> = {
  awaitTurn: { ...grantedTurn, formerDeployId: null },
  fetchSource: { commitSha: sha, commitMessage: 'Fix the login' },
  buildImage: { image: 'berth/shop:dep' },
  startInstances: { port: 3000 },
}

/** States in which a failure has an answer in the chart. */
const answered = Object.keys(slotOf).filter((state) => state === 'queued' || state.startsWith('running.'))

export interface DeployWorldOptions {
  id: string
  serviceId: string
  /** How long an aborted effect takes to end. */
  lingerMs: number
}

export async function openDeployWorld(storage: Storage, options: DeployWorldOptions) {
  const { id, serviceId } = options
  await storage.services.create(serviceRow({ id: serviceId, name: serviceId }))
  const stage = openStage(storage, options)
  const { current, stateOnDisk, isFinal } = stage
  const supervise = () => {
    const made = new Supervisor({ storage, catalogue, logger: silent })
    made.provide({ deploy: stage.effects, 'service-removal': { endDeploys: never, removeBelongings: never } })
    return made
  }
  let supervisor = supervise()
  await supervisor.spawn('deploy', id, deployInput({ id, serviceId }))

  return {
    wrongs: stage.wrongs,
    isFinal,
    send: (event: { type: string; [detail: string]: unknown }, eventId: string) =>
      supervisor.send(id, { at: instant, ...event }, { eventId: `${id} ${eventId}` }),
    succeed: () => current()?.succeed(),
    fail: () => {
      if (answered.includes(stateOnDisk())) current()?.fail()
    },
    /** Waits until the effect of the state on disk runs, or until the end. */
    async rest() {
      const deadline = Date.now() + 30_000
      while (!isFinal() && current()?.slot !== slotOf[stateOnDisk()]) {
        if (Date.now() > deadline) throw new Error(`no effect of ${stateOnDisk()} began in time`)
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    async restart() {
      await supervisor.stop()
      supervisor = supervise()
      await supervisor.restore()
    },
    stop: () => supervisor.stop(),
  }
}

/** The effects of the deploy: each runs until the test ends it. `wrongs` tells which began wrongly. */
function openStage({ actors }: Storage, { id, lingerMs }: DeployWorldOptions) {
  const wrongs: string[] = []
  const running = new Set<Attempt>()
  const stateOnDisk = () => pathOf((actors.get(id)!.snapshot as { value: unknown }).value)

  function judge(slot: string, input: SlotInput): void {
    const wrong = (what: string) => void wrongs.push(`${slot} started ${what}`)
    const done = actors.history(id).map(({ event }) => event)
    if (input.id !== id) wrong(`for ${input.id}`)
    if (slotOf[stateOnDisk()] !== slot) wrong(`while the disk says ${stateOnDisk()}`)
    if (done.includes(`${slot}.done`) || done.includes(`${slot}.failed`)) wrong('although it had ended')
    for (const other of running) wrong(`while ${other.slot} had not ended`)
  }

  const effectOf = (slot: string) => (input: SlotInput, signal: AbortSignal) => {
    judge(slot, input)
    return new Promise((resolve, reject) => {
      const end = (outcome: () => void) => () => {
        running.delete(attempt)
        outcome()
      }
      const succeed = end(() => resolve({ at: instant, ...outputs[slot] }))
      const fail = end(() => reject(new Failure('build_failed', `${slot} failed`)))
      const attempt: Attempt = { slot, succeed, fail }
      running.add(attempt)
      signal.addEventListener('abort', () => setTimeout(fail, lingerMs))
    })
  }

  const slots = Object.keys(catalogue.deploy.machine.implementations.actors)
  return {
    wrongs,
    stateOnDisk,
    effects: Object.fromEntries(slots.map((slot) => [slot, effectOf(slot)])),
    isFinal: () => actors.get(id)!.final,
    current: () => first(running),
  }
}

const never = () => new Promise(() => undefined)

function first<T>(values: Iterable<T>): T | undefined {
  for (const value of values) return value
}
