// Runs real charts with a clock and effects of the test, so that each history, record and log is what the
// daemon would have written. After the telling, the clock is that of the machine.
import { catalogue, type KindName } from '../../../machines/index.ts'
import { Failure } from '../../../src/errors.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import type { By } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { LogStream } from '../../../storage/log/logs.ts'
import { sha } from '../machines/deploy-chart.ts'
import { forever } from '../machines/machine-run.ts'
import { eventually, silentLogger } from '../supervisor/supervision.ts'

export type Line = string | [stream: LogStream, text: string, about?: object]

export interface Scene {
  /** How long the effects take; 1 s each. */
  ms?: Record<string, number>
  /** The effect that does not end. Without it, the actor goes to its end. */
  staysIn?: string
  fails?: { slot: string; code: string; message: string; facts?: Record<string, string | number> }
  logs?: Record<string, Line[]>
  /** By slot; they add to what the effect returns anyway. */
  returns?: Record<string, object>
}

interface Input {
  id: string
  serviceId?: string
  source?: { kind: string; image: string | null; deploy_id: string | null }
  port?: number
  portSource?: string
  outcome?: string
}

export type Teller = ReturnType<typeof startStories>

/** `improvise`: the scene of an actor that a page starts later. */
export function startStories(storage: Storage, improvise: (input: Input) => Scene) {
  const scenes = new Map<string, Scene>()
  const resting = new Set<string>()
  /** Ends the watch over the instances that serve now, by service. */
  const replace = new Map<string, () => void>()
  let clock: number | null = null
  const now = () => clock ?? Date.now()
  const supervisor = new Supervisor({ storage, catalogue, logger: silentLogger, now })

  function write(id: string, lines: Line[], fromMs: number, forMs: number): void {
    for (const [index, line] of lines.entries()) {
      const [stream, text, about] = typeof line === 'string' ? (['stdout', line] as const) : line
      const at = new Date(fromMs + Math.floor((forMs * (index + 1)) / (lines.length + 1))).toISOString()
      storage.logs.append(id, stream, text, at, about as Record<string, unknown> | undefined)
    }
  }

  async function close(id: string, outcome: string): Promise<void> {
    if (storage.logs.isEnded(id)) return
    storage.logs.append(id, 'system', outcome, new Date(now()).toISOString(), { mark: 'outcome' })
    await storage.logs.end(id)
  }

  const effect = (slot: string) => async (input: Input, signal: AbortSignal) => {
    const { id, serviceId = '' } = input
    const scene = scenes.get(id) ?? improvise(input)
    const ms = scene.ms?.[slot] ?? 1000
    write(id, scene.logs?.[slot] ?? [], now(), ms)
    if (slot === 'awaitTurn' && id.startsWith('dep-')) await freeze(storage, input)
    if (slot === 'keepInstances') {
      await close(id, 'live')
      replace.get(serviceId)?.()
    }
    if (scene.staysIn === slot) {
      resting.add(id)
      const replaced = new Promise<void>((resolve) => replace.set(serviceId, resolve))
      await (slot === 'keepInstances' ? Promise.race([replaced, forever(signal)]) : forever(signal))
      resting.delete(id)
    }
    if (clock !== null) clock += ms
    if (scene.fails?.slot === slot) {
      const { code, message, facts } = scene.fails
      throw facts ? new Failure(code, message).with(facts) : new Failure(code, message)
    }
    if (input.outcome !== undefined) await close(id, input.outcome)
    return { ...outputs(storage, slot, input, new Date(now()).toISOString()), ...scene.returns?.[slot] }
  }
  supervisor.provide(
    Object.fromEntries(
      Object.entries(catalogue).map(([kind, { machine }]) => {
        const slots = Object.keys(machine.implementations.actors)
        return [kind, Object.fromEntries(slots.map((slot) => [slot, effect(slot)]))]
      }),
    ),
  )

  return {
    supervisor,
    /** From the first transition until it rests in the effect that does not end, or is over. */
    async tell(
      kind: KindName,
      input: { id: string; [field: string]: unknown },
      atMs: number,
      scene: Scene,
      by: By,
    ) {
      clock = Math.floor(atMs)
      scenes.set(input.id, scene)
      await supervisor.spawn(kind, input.id, { ...input, at: new Date(clock).toISOString() }, { by })
      await eventually(`${input.id} rests`, () => resting.has(input.id) || isOver(storage, input.id))
      return input.id
    },
    isOver: (id: string) => eventually(`${id} is over`, () => isOver(storage, id)),
    /** Sends what a person or the server says about an actor. */
    send: (id: string, event: { type: string } & Record<string, unknown>) =>
      supervisor.send(id, { at: new Date(now()).toISOString(), ...event }),
    pass(ms: number): void {
      clock = now() + ms
    },
    finish(): void {
      clock = null
    },
  }
}

function isOver(storage: Storage, id: string): boolean {
  return storage.actors.get(id)?.final === true
}

async function freeze({ services, releases, env }: Storage, { id, serviceId }: Input): Promise<void> {
  const { id: _, name, ...settings } = services.get(serviceId!)!
  const vars = env.get(serviceId!)
  await releases.freeze(id, () => ({ settings, env: vars, resolved: null }))
  await releases.resolve(id, vars)
}

const hourMs = 3_600_000

/** What an effect returns when it succeeds. */
function outputs(storage: Storage, slot: string, input: Input, at: string): object {
  const { id, serviceId = '', source, ...rest } = input
  const service = storage.services.get(serviceId)
  const port = rest.port ?? 3000
  const portSource = rest.portSource ?? 'detected'
  const image = source?.image ?? `berth/${service?.name}:${id}`
  switch (id.startsWith('job-') ? `job ${slot}` : slot) {
    case 'awaitTurn':
      return {
        supersededBy: null,
        formerDeployId: service?.live_deploy_id ?? null,
        exclusive: false,
        preDeploy: service?.pre_deploy_command != null,
        onSchedule: service?.type === 'cron_job',
        checkMs: 300_000,
        settleMs: 5000,
        drainMs: 30_000,
        reused: source?.kind === 'reuse' ? reused(storage, service?.live_deploy_id, source) : null,
      }
    case 'fetchSource':
      return { commitSha: sha, commitMessage: 'Fix the cart' }
    case 'buildImage':
      return { image }
    case 'pullImage':
      return { image, source }
    case 'startInstances':
      return { port, portSource, warnings: [] }
    case 'probeInstances':
      return { port, portSource, healthCheck: service?.health_check_path ? 'path' : 'port' }
    case 'job awaitTurn':
      return { deployId: service?.live_deploy_id, image, command: service?.start_command ?? null }
    case 'job startRun':
      return { startedAt: at }
    case 'job followRun':
      return { exitCode: 0, startedAt: null, finishedAt: null, trouble: null, code: 'job_failed' }
    case 'job stopRun':
      return { exitCode: 143, startedAt: null, finishedAt: null }
    case 'checkHost':
      return { isRouted: true, trouble: null }
    case 'obtainCertificate': {
      const notBefore = new Date(Date.now() - 30 * 24 * hourMs).toISOString()
      const notAfter = new Date(Date.now() + 60 * 24 * hourMs).toISOString()
      return { validity: { notBefore, notAfter, directoryUrl: 'https://ca.example.com' }, trouble: null }
    }
    default:
      return {}
  }
}

function reused(storage: Storage, liveId: string | null | undefined, source: NonNullable<Input['source']>) {
  const earlier = storage.actors.record<'deploy'>(source.deploy_id ?? liveId!)!
  const { image, commit_sha: commitSha, commit_message: commitMessage, id } = earlier
  return { image, commitSha, commitMessage, source: { ...earlier.source, kind: 'reuse', deploy_id: id } }
}
