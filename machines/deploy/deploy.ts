// A deploy: from the request to supervised instances, until a newer deploy replaces it.
// `live` is not final: the actor of the live deploy supervises its instances until its duty ends.
import { assign, type SnapshotFrom, setup } from 'xstate'
import type { SlotFailure } from '../slot.ts'
import {
  contextOfTurn,
  type DeployContext,
  type DeployEvent,
  type DeployInput,
  type DeploySource,
  failed,
  fromOutput,
  initialContext,
  instantOf,
  superseded,
  type Turn,
} from './deploy-context.ts'
import { slots } from './deploy-slots.ts'

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

const owner = ({ context }: { context: DeployContext }) => ({ id: context.id, serviceId: context.serviceId })
const after = (at: string, limitMs: number) => Date.parse(at) + limitMs

const deploy = setup({
  types: {} as { context: DeployContext; input: DeployInput; events: DeployEvent },
  actors: slots,
  guards: {
    isSuperseded: (_, turn: Turn) => turn.supersededBy !== null,
    isReuse: ({ context }) => context.source.kind === 'reuse',
    isImage: ({ context }) => context.source.kind === 'image',
    hasPreDeploy: ({ context }) => context.preDeploy,
    isOnSchedule: ({ context }) => context.onSchedule,
  },
  actions: {
    recordImage: assign((_, { image, source }: { image: string; source?: DeploySource }) =>
      source ? { image, source } : { image },
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
  actions: {
    type: 'recordFailure',
    params: ({ event }: { event: { error: unknown } }) => event.error as SlotFailure,
  },
} as const

/** Records the image of a build or a pull. A pull also returns the source with the digest of its tag. */
const recordImage = {
  type: 'recordImage',
  params: ({ event }: { event: { output: { image: string; source?: DeploySource } } }) => event.output,
} as const

const canceling = {
  target: '#deploy.canceling',
  actions: { type: 'recordCancel', params: ({ event }: { event: { at: string; by: string } }) => event },
} as const

export const machine = deploy.createMachine({
  id: 'deploy',
  context: ({ input }) => initialContext(input),
  initial: 'queued',
  states: {
    queued: {
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
      on: { cancel: canceling },
      initial: 'fetching',
      states: {
        fetching: {
          entry: assign({ phase: 'fetching' }),
          invoke: {
            id: 'fetchSource',
            src: 'fetchSource',
            input: ({ context }) => ({
              ...owner({ context }),
              source: context.source,
              deadlineAt: after(context.startedAt!, context.limits.fetchMs),
            }),
            onDone: {
              target: 'building',
              actions: assign(({ context, event }) => fromOutput.source(context, event.output)),
            },
            onError: failing,
          },
        },
        building: {
          entry: assign({ phase: 'building' }),
          invoke: {
            id: 'buildImage',
            src: 'buildImage',
            // No deadline here: the time of a build counts from when it gets a build slot.
            input: ({ context }) => ({
              ...owner({ context }),
              clearCache: context.clearCache,
              timeoutMs: context.limits.buildMs,
            }),
            onDone: [
              { guard: 'hasPreDeploy', target: 'preparing', actions: recordImage },
              { target: 'starting', actions: recordImage },
            ],
            onError: failing,
          },
        },
        pulling: {
          entry: assign({ phase: 'pulling' }),
          invoke: {
            id: 'pullImage',
            src: 'pullImage',
            input: ({ context }) => ({
              ...owner({ context }),
              source: context.source,
              deadlineAt: after(context.startedAt!, context.limits.fetchMs),
            }),
            onDone: [
              { guard: 'hasPreDeploy', target: 'preparing', actions: recordImage },
              { target: 'starting', actions: recordImage },
            ],
            onError: failing,
          },
        },
        preparing: {
          entry: assign({ phase: 'preparing' }),
          invoke: {
            id: 'runPreDeploy',
            src: 'runPreDeploy',
            input: ({ context, event }) => ({
              ...owner({ context }),
              image: context.image!,
              commitSha: context.commitSha,
              deadlineAt: after(instantOf(event), context.limits.buildMs),
            }),
            onDone: 'starting',
            onError: failing,
          },
        },
        starting: {
          entry: assign({ phase: 'starting' }),
          invoke: {
            id: 'startInstances',
            src: 'startInstances',
            input: ({ context, event }) => ({
              ...owner({ context }),
              image: context.image!,
              commitSha: context.commitSha,
              deadlineAt: after(instantOf(event), context.limits.startMs),
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
          entry: assign({ phase: 'checking' }),
          invoke: {
            id: 'probeInstances',
            src: 'probeInstances',
            input: ({ context, event }) => ({
              ...owner({ context }),
              port: context.port!,
              portSource: context.portSource ?? 'setting',
              settleMs: context.settleMs,
              deadlineAt: after(instantOf(event), context.checkMs + context.settleMs),
            }),
            onDone: {
              target: 'switching',
              actions: assign(({ event }) => fromOutput.health(event.output)),
            },
            onError: failing,
          },
        },
        switching: {
          entry: assign({ phase: 'switching' }),
          invoke: {
            id: 'switchTraffic',
            src: 'switchTraffic',
            input: ({ context, event }) => ({
              ...owner({ context }),
              formerDeployId: context.formerDeployId,
              deadlineAt: after(instantOf(event), context.limits.startMs),
            }),
            onDone: {
              target: '#deploy.live',
              actions: assign(({ event }) => ({ finishedAt: event.output.at, phase: null })),
            },
            onError: failing,
          },
        },
      },
    },
    live: {
      on: { 'instances.reported': { actions: assign(({ event }) => ({ degraded: event.degraded })) } },
      invoke: {
        id: 'keepInstances',
        src: 'keepInstances',
        input: ({ context }) => ({ ...owner({ context }), image: context.image! }),
        onDone: 'draining',
      },
    },
    draining: {
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
    failing: { invoke: { ...cleanup(false), onDone: 'failed' } },
    canceling: { invoke: { ...cleanup(true), onDone: 'canceled' } },
    deactivated: { type: 'final' },
    failed: { type: 'final' },
    canceled: { type: 'final' },
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
