// The edge: the reverse proxy that the daemon controls. It is started, reconciled with the committed routes,
// and restarted when it ends. It keeps serving without the daemon, so it may run even if the chart does not
// know about it.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { failureOf, type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 2
export const cleanups = ['stopEdge'] as const

export const discarded = { status: 'off' } as const

/** Version 1 had no upgrades: its edge is the first generation. */
export function migrate(snapshot: unknown, from: number): unknown {
  if (from !== 1) throw new Error(`the edge of version ${from} is not known`)
  const { context, ...rest } = snapshot as { context: object }
  return { ...rest, context: { ...context, ...neverUpgraded, generation: 1 } }
}

export type EdgeMode = 'container' | 'host' | 'off'

export interface EdgeSettings {
  mode: EdgeMode
  httpPort: number
  httpsPort: number
}

export interface EdgeInput extends EdgeSettings {
  id: string
  at: string
}

/** Counts of what the edge serves, reported on each change. */
export interface EdgeRoutes {
  services: number
  hosts: number
  /** Instances that get requests. */
  ready: number
}

/** A version of HAProxy. `image` is null for HAProxy on the host. */
export interface EdgeSoftware {
  version: string | null
  image: string | null
}

export type EdgeEvent =
  | ({ type: 'configure'; at: string } & EdgeSettings)
  | { type: 'routes.applied'; at: string; routes: EdgeRoutes }
  | { type: 'software.compared'; at: string; software: EdgeSoftware; available: EdgeSoftware | null }
  | { type: 'ports.checked'; at: string; problem: EdgeProblem | null }
  | { type: 'upgrade'; at: string; force: boolean }

export interface EdgeProblem {
  code: string
  message: string
}

interface EdgeContext extends EdgeInput {
  servingSince: string | null
  routes: EdgeRoutes | null
  error: EdgeProblem | null
  /** Why requests may not reach the edge although it serves. Missing in older snapshots. */
  portProblem?: EdgeProblem | null
  failures: number
  retryAt: number | null
  /** Each upgrade increments it. */
  generation: number | null
  software: EdgeSoftware | null
  /** The version that an upgrade would start, if it differs. */
  available: EdgeSoftware | null
  /** The current upgrade also replaces an edge with the same software. */
  force: boolean
  upgradeError: { code: string; message: string } | null
  upgradedAt: string | null
}

/** `hasReplaced` is false if no newer version was available. */
type UpgradeOutput = SlotOutput & { generation: number; hasReplaced: boolean }

const neverUpgraded = {
  generation: null,
  software: null,
  available: null,
  force: false,
  upgradeError: null,
  upgradedAt: null,
}

const firstPauseMs = 250
const longestPauseMs = 15_000

const settingsOf = ({ mode, httpPort, httpsPort }: EdgeSettings) => ({ mode, httpPort, httpsPort })

const edge = setup({
  types: {} as { context: EdgeContext; input: EdgeInput; events: EdgeEvent },
  actors: {
    startEdge: slot<SlotInput & EdgeSettings, SlotOutput & { generation: number }>(),
    keepRoutes: slot<SlotInput, SlotOutput>(),
    upgradeEdge: slot<SlotInput & { generation: number; force: boolean }, UpgradeOutput>(),
    stopEdge: slot<SlotInput, SlotOutput>(),
    sleepUntil: slot<SlotInput & { wakeAt: number }, SlotOutput>(),
  },
  guards: {
    isOff: ({ context, event }) =>
      event.type === 'configure' && event.mode === 'off' && context.mode !== 'off',
    isAnother: ({ context, event }) =>
      event.type === 'configure' &&
      (event.mode !== context.mode ||
        event.httpPort !== context.httpPort ||
        event.httpsPort !== context.httpsPort),
  },
  actions: {
    recordFailure: assign(({ context, event }) => {
      const { code, message, at } = failureOf({ event })
      return {
        error: { code, message },
        portProblem: null,
        servingSince: null,
        failures: context.failures + 1,
        retryAt: Date.parse(at) + Math.min(longestPauseMs, firstPauseMs * 2 ** context.failures),
      }
    }),
  },
})

export const machine = edge.createMachine({
  id: 'edge',
  description: 'Keeps the reverse proxy running and its routes up to date.',
  context: ({ input }) => ({
    ...input,
    servingSince: null,
    routes: null,
    error: null,
    failures: 0,
    retryAt: null,
    ...neverUpgraded,
  }),
  initial: 'starting',
  on: {
    configure: [
      { guard: 'isOff', target: '.stopping', actions: assign(({ event }) => settingsOf(event)) },
      { guard: 'isAnother', target: '.starting', actions: assign(({ event }) => settingsOf(event)) },
    ],
  },
  states: {
    starting: {
      description: 'Starts the proxy, or adopts the one that runs.',
      invoke: {
        id: 'startEdge',
        src: 'startEdge',
        input: ({ context }) => ({ id: context.id, ...settingsOf(context) }),
        onDone: {
          target: 'serving',
          actions: assign(({ event }) => ({
            servingSince: event.output.at,
            generation: event.output.generation,
            error: null,
            portProblem: null,
            failures: 0,
            retryAt: null,
          })),
        },
        onError: { target: 'waiting', actions: 'recordFailure' },
      },
    },
    serving: {
      description: 'Serves requests, and applies each change of the routes.',
      on: {
        'routes.applied': { actions: assign(({ event }) => ({ routes: event.routes })) },
        'ports.checked': { actions: assign(({ event }) => ({ portProblem: event.problem })) },
        'software.compared': {
          actions: assign(({ event: { software, available } }) => ({ software, available })),
        },
        upgrade: {
          target: 'upgrading',
          actions: assign(({ event }) => ({ force: event.force, upgradeError: null })),
        },
      },
      invoke: {
        id: 'keepRoutes',
        src: 'keepRoutes',
        input: ({ context }) => ({ id: context.id }),
        onDone: 'starting',
        onError: { target: 'starting', actions: 'recordFailure' },
      },
    },
    // Routes stay reconciled while the image is fetched. After a failure, the start adopts the former edge.
    upgrading: {
      description: 'Replaces the proxy by a newer version. The current one serves until then.',
      on: { 'routes.applied': { actions: assign(({ event }) => ({ routes: event.routes })) } },
      invoke: {
        id: 'upgradeEdge',
        src: 'upgradeEdge',
        input: ({ context: { id, generation, force } }) => ({ id, generation: generation ?? 1, force }),
        onDone: {
          target: 'serving',
          actions: assign(({ context, event: { output } }) => ({
            generation: output.generation,
            upgradedAt: output.hasReplaced ? output.at : context.upgradedAt,
          })),
        },
        onError: {
          target: 'starting',
          actions: assign(({ event }) => {
            const { code, message } = failureOf({ event })
            return { upgradeError: { code, message } }
          }),
        },
      },
    },
    waiting: {
      description: 'The start failed. Waits before the next attempt.',
      invoke: {
        id: 'sleepUntil',
        src: 'sleepUntil',
        input: ({ context }) => ({ id: context.id, wakeAt: context.retryAt ?? 0 }),
        onDone: 'starting',
      },
    },
    stopping: {
      description: 'Switched off: stops the proxy.',
      invoke: {
        id: 'stopEdge',
        src: 'stopEdge',
        input: ({ context }) => ({ id: context.id }),
        onDone: {
          target: 'off',
          actions: assign({
            servingSince: null,
            routes: null,
            error: null,
            failures: 0,
            retryAt: null,
            portProblem: null,
            software: null,
            available: null,
            upgradeError: null,
          }),
        },
        onError: { target: 'lingering', actions: 'recordFailure' },
      },
    },
    lingering: {
      description: 'The stop failed. Waits before the next attempt.',
      invoke: {
        id: 'sleepUntil',
        src: 'sleepUntil',
        input: ({ context }) => ({ id: context.id, wakeAt: context.retryAt ?? 0 }),
        onDone: 'stopping',
      },
    },
    off: { description: 'Switched off in the configuration.' },
  },
})

export type EdgeSnapshot = SnapshotFrom<typeof machine>

/** In `lingering`, a stop has failed and is retried. */
const statuses = {
  starting: 'starting',
  serving: 'serving',
  upgrading: 'upgrading',
  waiting: 'waiting',
  stopping: 'stopping',
  lingering: 'stopping',
  off: 'off',
} as const

export function toRecord(snapshot: EdgeSnapshot) {
  const { id, mode, httpPort, httpsPort, servingSince, routes, error, retryAt, at } = snapshot.context
  const { software, available, upgradeError, upgradedAt } = snapshot.context
  const problem = error ?? snapshot.context.portProblem ?? null
  return {
    id,
    status: statuses[snapshot.value as keyof typeof statuses],
    mode,
    http_port: httpPort,
    https_port: httpsPort,
    routes,
    error: problem?.message ?? null,
    error_code: problem?.code ?? null,
    version: software?.version ?? null,
    image: software?.image ?? null,
    available,
    upgrade_error: upgradeError?.message ?? null,
    upgraded_at: upgradedAt,
    serving_since: servingSince,
    next_attempt_at: retryAt === null ? null : new Date(retryAt).toISOString(),
    created_at: at,
  }
}
