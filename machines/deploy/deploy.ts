// A deploy: from the request to supervised instances, until a newer deploy replaces it.
// `live` is not final: the actor of the live deploy supervises its instances until its duty ends.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { problemFields } from '../problem.ts'
import { rootState } from '../root-state.ts'
import { failureOf, type SlotFailure, type SlotInput, type SlotOutput, slot } from '../slot.ts'
import {
  contextOfTurn,
  type DeployContext,
  type DeployEvent,
  type DeployInput,
  type DeploySource,
  type DeployWarning,
  deadlineOf,
  type Fetched,
  failed,
  fromOutput,
  type HealthCheck,
  initialContext,
  instantOf,
  type Listening,
  limitOf,
  type Phase,
  type Switched,
  superseded,
  type Turn,
} from './deploy-context.ts'

export const version = 4

/** Version 1 had no pre-deploy commands, version 2 no settle time, version 3 no cron jobs. */
export function migrate(snapshot: unknown, _from: number): unknown {
  const old = snapshot as { context: object }
  return { ...old, context: { preDeploy: false, settleMs: 0, onSchedule: false, ...old.context } }
}

/** Slots that run again if an aborted effect before them ended late. */
export const cleanups = ['removeTraces', 'drainInstances'] as const

export const readers = [
  'fetchSource',
  'buildImage',
  'pullImage',
  'runPreDeploy',
  'startInstances',
  'probeInstances',
  'drainInstances',
  'removeTraces',
] as const

/** The limit of a phase. Null for other states, and where the settings of the service decide. */
export function limitMs(state: string, limits: DeployInput['limits']): number | null {
  const [, phase] = /^running\.(\w+)$/.exec(state) ?? []
  return phase === undefined ? null : (limitOf(phase as Phase, limits)?.[0] ?? null)
}

const owner = ({ context }: { context: DeployContext }) => ({ id: context.id, serviceId: context.serviceId })
const after = (at: string, limitMs: number) => Date.parse(at) + limitMs

interface DeploySlotInput extends SlotInput {
  serviceId: string
}

type FromSource = DeploySlotInput & { source: DeploySource }
type FromImage = DeploySlotInput & { image: string; commitSha: string | null }

const slots = {
  awaitTurn: slot<FromSource, Turn>(),
  fetchSource: slot<FromSource, SlotOutput & Fetched>(),
  buildImage: slot<DeploySlotInput & { clearCache: boolean; timeoutMs: number }, SlotOutput & BuiltImage>(),
  pullImage: slot<FromSource, SlotOutput & { image: string; source: DeploySource }>(),
  runPreDeploy: slot<FromImage, SlotOutput>(),
  startInstances: slot<FromImage, SlotOutput & Listening & { warnings: DeployWarning[] }>(),
  probeInstances: slot<
    DeploySlotInput & Listening & { settleMs: number },
    SlotOutput & Listening & { healthCheck: HealthCheck }
  >(),
  switchTraffic: slot<DeploySlotInput & { formerDeployId: string | null }, Switched>(),
  keepInstances: slot<DeploySlotInput & { image: string }, SlotOutput>(),
  drainInstances: slot<DeploySlotInput & { drainUntil: number; port: number }, SlotOutput>(),
  removeTraces: slot<
    DeploySlotInput & { formerDeployId: string | null; outcome: string; canceled: boolean },
    SlotOutput
  >(),
}

const deploy = setup({
  types: {} as { context: DeployContext; input: DeployInput; events: DeployEvent },
  actors: slots,
  guards: {
    isSuperseded: (_, turn: Turn) => turn.supersededBy !== null,
    isReuse: ({ context }) => context.source.kind === 'reuse',
    isImage: ({ context }) => context.source.kind === 'image',
    hasPreDeploy: ({ context }, { preDeploy = context.preDeploy }: BuiltImage) => preDeploy,
    isOnSchedule: ({ context }) => context.onSchedule,
  },
  actions: {
    beginPhase: assign(({ context, event }, phase: Phase) => ({
      phase,
      deadlineAt: deadlineOf(phase, context, instantOf(event)),
    })),
    recordImage: assign(
      ({ context }, { image, source = context.source, preDeploy = context.preDeploy }: BuiltImage) => ({
        image,
        source,
        preDeploy,
      }),
    ),
    recordFailure: assign(({ context }, failure: SlotFailure) => failed(context, failure)),
    recordCancel: assign((_, { at, by }: { at: string; by: string }) => ({
      error: { code: 'canceled', message: `canceled by ${by}` },
      finishedAt: at,
    })),
  },
})

/** Every phase handles a failed effect like this: it records the reason, then cleans up. */
const failing = {
  target: '#deploy.failing',
  actions: { type: 'recordFailure', params: failureOf },
} as const

/** A pull also returns the source with the digest of its tag, and a build may find a pre-deploy command. */
interface BuiltImage {
  image: string
  source?: DeploySource
  preDeploy?: boolean
}

const built = ({ event }: { event: { output: BuiltImage } }) => event.output
const recordImage = { type: 'recordImage', params: built } as const

const prepareOrStart = [
  { guard: { type: 'hasPreDeploy', params: built }, target: 'preparing', actions: recordImage },
  { target: 'starting', actions: recordImage },
] as const

const canceling = {
  target: '#deploy.canceling',
  actions: { type: 'recordCancel', params: ({ event }: { event: { at: string; by: string } }) => event },
} as const

export const machine = deploy.createMachine({
  id: 'deploy',
  description: 'Turns a source into a live version, and keeps it running until the next one.',
  context: ({ input }) => initialContext(input),
  initial: 'queued',
  states: {
    queued: {
      description: 'Waits until earlier deploys of the service have finished.',
      on: { cancel: canceling },
      invoke: {
        id: 'awaitTurn',
        src: 'awaitTurn',
        input: ({ context }) => ({ ...owner({ context }), source: context.source }),
        onDone: [
          {
            guard: { type: 'isSuperseded', params: ({ event }) => event.output },
            target: 'canceling',
            actions: assign(({ event }) => superseded(event.output)),
          },
          {
            guard: 'isReuse',
            target: 'running.starting',
            actions: assign(({ event }) => ({ ...contextOfTurn(event.output), ...event.output.reused })),
          },
          {
            guard: 'isImage',
            target: 'running.pulling',
            actions: assign(({ event }) => contextOfTurn(event.output)),
          },
          {
            target: 'running.fetching',
            actions: assign(({ event }) => contextOfTurn(event.output)),
          },
        ],
        onError: failing,
      },
    },
    running: {
      description: 'Makes the version and puts it into service, step by step.',
      on: { cancel: canceling },
      initial: 'fetching',
      states: {
        fetching: {
          description: 'Gets the source: clones the repository, or unpacks the upload.',
          entry: { type: 'beginPhase', params: 'fetching' },
          invoke: {
            id: 'fetchSource',
            src: 'fetchSource',
            input: ({ context }) => ({
              ...owner({ context }),
              source: context.source,
              deadlineAt: context.deadlineAt!,
            }),
            onDone: {
              target: 'building',
              actions: assign(({ context, event }) => fromOutput.source(context, event.output)),
            },
            onError: failing,
          },
        },
        building: {
          description: 'Builds the image. It may first wait for a free build slot.',
          entry: assign({ phase: 'building', deadlineAt: null }),
          on: {
            'build.queued': { actions: assign({ deadlineAt: null }) },
            'build.started': {
              actions: assign(({ context, event }) => ({
                deadlineAt: deadlineOf('building', context, event.at),
              })),
            },
          },
          invoke: {
            id: 'buildImage',
            src: 'buildImage',
            // No deadline here: the time of a build counts from when it gets a build slot.
            input: ({ context }) => ({
              ...owner({ context }),
              clearCache: context.clearCache,
              timeoutMs: context.limits.buildMs,
            }),
            onDone: prepareOrStart,
            onError: failing,
          },
        },
        pulling: {
          description: 'Pulls the image from its registry.',
          entry: { type: 'beginPhase', params: 'pulling' },
          invoke: {
            id: 'pullImage',
            src: 'pullImage',
            input: ({ context }) => ({
              ...owner({ context }),
              source: context.source,
              deadlineAt: context.deadlineAt!,
            }),
            onDone: prepareOrStart,
            onError: failing,
          },
        },
        preparing: {
          description: 'Runs the pre-deploy command in a container of its own.',
          entry: { type: 'beginPhase', params: 'preparing' },
          invoke: {
            id: 'runPreDeploy',
            src: 'runPreDeploy',
            input: ({ context }) => ({
              ...owner({ context }),
              image: context.image!,
              commitSha: context.commitSha,
              deadlineAt: context.deadlineAt!,
            }),
            onDone: 'starting',
            onError: failing,
          },
        },
        starting: {
          description: 'Starts the instances, and finds the port that they listen on.',
          entry: { type: 'beginPhase', params: 'starting' },
          invoke: {
            id: 'startInstances',
            src: 'startInstances',
            input: ({ context }) => ({
              ...owner({ context }),
              image: context.image!,
              commitSha: context.commitSha,
              deadlineAt: context.deadlineAt!,
            }),
            onDone: [
              {
                guard: 'isOnSchedule',
                target: '#deploy.live',
                actions: assign(({ event }) => fromOutput.scheduled(event.output)),
              },
              { target: 'checking', actions: assign(({ event }) => fromOutput.started(event.output)) },
            ],
            onError: failing,
          },
        },
        checking: {
          description: 'Checks the new instances until they are healthy.',
          entry: { type: 'beginPhase', params: 'checking' },
          invoke: {
            id: 'probeInstances',
            src: 'probeInstances',
            input: ({ context }) => ({
              ...owner({ context }),
              port: context.port!,
              portSource: context.portSource ?? 'setting',
              settleMs: context.settleMs,
              deadlineAt: context.deadlineAt!,
            }),
            onDone: {
              target: 'switching',
              actions: assign(({ event }) => fromOutput.health(event.output)),
            },
            onError: failing,
          },
        },
        switching: {
          description: 'Sends requests to the new instances instead of the former ones.',
          entry: { type: 'beginPhase', params: 'switching' },
          invoke: {
            id: 'switchTraffic',
            src: 'switchTraffic',
            input: ({ context }) => ({
              ...owner({ context }),
              formerDeployId: context.formerDeployId,
              deadlineAt: context.deadlineAt!,
            }),
            onDone: {
              target: '#deploy.live',
              actions: assign(({ context, event }) => fromOutput.switched(context, event.output)),
            },
            onError: failing,
          },
        },
      },
    },
    live: {
      description: 'Serves. Keeps its instances running until another deploy is live.',
      on: { 'instances.reported': { actions: assign(({ event }) => ({ degraded: event.degraded })) } },
      invoke: {
        id: 'keepInstances',
        src: 'keepInstances',
        input: ({ context }) => ({ ...owner({ context }), image: context.image! }),
        onDone: 'draining',
      },
    },
    draining: {
      description: 'Lets open requests finish, then stops the instances.',
      invoke: {
        id: 'drainInstances',
        src: 'drainInstances',
        input: ({ context, event }) => ({
          ...owner({ context }),
          port: context.port!,
          drainUntil: after(instantOf(event), context.drainMs),
        }),
        onDone: 'deactivated',
      },
    },
    failing: {
      description: 'Failed: the former deploy serves again, what this one made is removed.',
      invoke: { ...cleanup(false), onDone: 'failed' },
    },
    canceling: {
      description: 'Canceled: the former deploy serves again, what this one made is removed.',
      invoke: { ...cleanup(true), onDone: 'canceled' },
    },
    deactivated: { description: 'Served until another deploy was live.', type: 'final' },
    failed: { description: 'Failed. If a former deploy was live, it still serves.', type: 'final' },
    canceled: {
      description: 'Ended on request, or because a newer deploy waited in the queue.',
      type: 'final',
    },
  },
})

/** After a failure or a cancellation the former deploy serves again, then all of this one is removed. */
function cleanup(canceled: boolean) {
  return {
    id: 'removeTraces',
    src: 'removeTraces',
    input: ({ context }: { context: DeployContext }) => ({
      ...owner({ context }),
      formerDeployId: context.formerDeployId,
      outcome: context.error?.message ?? 'failed',
      canceled,
    }),
  } as const
}

export type DeploySnapshot = SnapshotFrom<typeof machine>

const statuses: Record<string, string> = {
  queued: 'queued',
  running: 'running',
  live: 'live',
  draining: 'deactivated',
  deactivated: 'deactivated',
  failing: 'failed',
  failed: 'failed',
  canceling: 'canceled',
  canceled: 'canceled',
}

export function toRecord(snapshot: DeploySnapshot) {
  const { context } = snapshot
  return {
    id: context.id,
    service_id: context.serviceId,
    status: statuses[rootState(snapshot)]!,
    phase: context.phase,
    trigger: context.trigger,
    source: context.source,
    image: imageOf(snapshot),
    port: context.port,
    port_source: context.portSource ?? null,
    health_check: context.healthCheck ?? null,
    warnings: context.warnings ?? [],
    commit_sha: context.commitSha,
    commit_message: context.commitMessage,
    ...problemFields(context.error),
    created_at: context.at,
    started_at: context.startedAt,
    finished_at: context.finishedAt,
    deadline_at: deadlineOfPhase(snapshot),
  }
}

function deadlineOfPhase(snapshot: DeploySnapshot): string | null {
  const { deadlineAt } = snapshot.context
  return deadlineAt && rootState(snapshot) === 'running' ? new Date(deadlineAt).toISOString() : null
}

/** A failed or canceled deploy removes its own image. A reused image belongs to another deploy. */
function imageOf(snapshot: DeploySnapshot): string | null {
  const { image, source } = snapshot.context
  const hasFailed = ['failed', 'canceled'].includes(statuses[rootState(snapshot)]!)
  return hasFailed && source.kind !== 'reuse' ? null : image
}

/** The service row: `desired` is set before the switch of traffic, `live` with the state `live`. */
export function toService(snapshot: DeploySnapshot, before: DeploySnapshot | null) {
  const { id, formerDeployId, degraded } = snapshot.context
  if (snapshot.matches('live')) {
    if (before?.matches('live')) return { degraded, while_live: id }
    return { live_deploy_id: id, desired_deploy_id: id, degraded: false }
  }
  if (claimsService(snapshot)) return { desired_deploy_id: id }
  return before && claimsService(before) ? { desired_deploy_id: formerDeployId } : null
}

/** With a disk: from before its start until its cleanup is done, because former instances need the disk. */
function claimsService(snapshot: DeploySnapshot): boolean {
  const { exclusive, phase } = snapshot.context
  if (!exclusive) return snapshot.matches({ running: 'switching' })
  const holdsDisk = ['starting', 'checking', 'switching'].includes(phase ?? '')
  return holdsDisk && ['running', 'failing', 'canceling'].includes(rootState(snapshot))
}
