// The edge: the reverse proxy that the daemon drives. It is started, kept at the routes that are committed,
// and started again whenever it is gone.
// Mind: it serves on without the daemon. What this chart loses sight of may be running all the same.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type SlotFailure, type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const cleanups = ['stopEdge'] as const

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

/** How much it serves, told when it changes. */
export interface EdgeRoutes {
  services: number
  hosts: number
  /** Instances that get requests. */
  ready: number
}

export type EdgeEvent =
  | ({ type: 'configure'; at: string } & EdgeSettings)
  | { type: 'routes.applied'; at: string; routes: EdgeRoutes }

interface EdgeContext extends EdgeInput {
  servingSince: string | null
  routes: EdgeRoutes | null
  error: { code: string; message: string } | null
  /** Starts in a row that failed. */
  failures: number
  retryAt: number | null
}

const firstPauseMs = 250
const longestPauseMs = 15_000

const edge = setup({
  types: {} as { context: EdgeContext; input: EdgeInput; events: EdgeEvent },
  actors: {
    startEdge: slot<SlotInput & EdgeSettings, SlotOutput>(),
    keepRoutes: slot<SlotInput, SlotOutput>(),
    stopEdge: slot<SlotInput, SlotOutput>(),
    sleepUntil: slot<SlotInput & { wakeAt: number }, SlotOutput>(),
  },
  guards: {
    isOff: ({ context }, settings: EdgeSettings) => settings.mode === 'off' && context.mode !== 'off',
    isAnother: ({ context }, settings: EdgeSettings) =>
      settings.mode !== context.mode ||
      settings.httpPort !== context.httpPort ||
      settings.httpsPort !== context.httpsPort,
  },
  actions: {
    keepSettings: assign((_, { mode, httpPort, httpsPort }: EdgeSettings) => ({ mode, httpPort, httpsPort })),
    keepFailure: assign(({ context }, { code, message, at }: SlotFailure) => ({
      error: { code, message },
      servingSince: null,
      failures: context.failures + 1,
      retryAt: Date.parse(at) + Math.min(longestPauseMs, firstPauseMs * 2 ** context.failures),
    })),
  },
})

const settingsOf = { params: ({ event }: { event: EdgeEvent }) => event as never as EdgeSettings } as const
const failureOf = {
  params: ({ event }: { event: { error: unknown } }) => event.error as SlotFailure,
} as const

export const machine = edge.createMachine({
  id: 'edge',
  context: ({ input }) => ({
    ...input,
    servingSince: null,
    routes: null,
    error: null,
    failures: 0,
    retryAt: null,
  }),
  initial: 'starting',
  on: {
    configure: [
      {
        guard: { type: 'isOff', ...settingsOf },
        target: '.stopping',
        actions: { type: 'keepSettings', ...settingsOf },
      },
      {
        guard: { type: 'isAnother', ...settingsOf },
        target: '.starting',
        actions: { type: 'keepSettings', ...settingsOf },
      },
    ],
  },
  states: {
    starting: {
      invoke: {
        id: 'startEdge',
        src: 'startEdge',
        input: ({ context: { id, mode, httpPort, httpsPort } }) => ({ id, mode, httpPort, httpsPort }),
        onDone: {
          target: 'serving',
          actions: assign(({ event }) => ({
            servingSince: event.output.at,
            error: null,
            failures: 0,
            retryAt: null,
          })),
        },
        onError: { target: 'waiting', actions: { type: 'keepFailure', ...failureOf } },
      },
    },
    serving: {
      on: { 'routes.applied': { actions: assign(({ event }) => ({ routes: event.routes })) } },
      invoke: {
        id: 'keepRoutes',
        src: 'keepRoutes',
        input: ({ context }) => ({ id: context.id }),
        onDone: 'starting',
        onError: { target: 'starting', actions: { type: 'keepFailure', ...failureOf } },
      },
    },
    waiting: {
      invoke: {
        id: 'sleepUntil',
        src: 'sleepUntil',
        input: ({ context }) => ({ id: context.id, wakeAt: context.retryAt ?? 0 }),
        onDone: 'starting',
      },
    },
    stopping: {
      invoke: {
        id: 'stopEdge',
        src: 'stopEdge',
        input: ({ context }) => ({ id: context.id }),
        onDone: {
          target: 'off',
          actions: assign({ servingSince: null, routes: null, error: null, failures: 0, retryAt: null }),
        },
        onError: { target: 'lingering', actions: { type: 'keepFailure', ...failureOf } },
      },
    },
    lingering: {
      invoke: {
        id: 'sleepUntil',
        src: 'sleepUntil',
        input: ({ context }) => ({ id: context.id, wakeAt: context.retryAt ?? 0 }),
        onDone: 'stopping',
      },
    },
    off: {},
  },
})

export type EdgeSnapshot = SnapshotFrom<typeof machine>

/** lingering: it could not be stopped, and is tried again. */
const statuses = {
  starting: 'starting',
  serving: 'serving',
  waiting: 'waiting',
  stopping: 'stopping',
  lingering: 'stopping',
  off: 'off',
} as const

export function toRecord(snapshot: EdgeSnapshot) {
  const { id, mode, httpPort, httpsPort, servingSince, routes, error, retryAt, at } = snapshot.context
  return {
    id,
    status: statuses[snapshot.value as keyof typeof statuses],
    mode,
    http_port: httpPort,
    https_port: httpsPort,
    routes,
    error: error?.message ?? null,
    serving_since: servingSince,
    next_attempt_at: retryAt === null ? null : new Date(retryAt).toISOString(),
    created_at: at,
  }
}

export type EdgeRecord = ReturnType<typeof toRecord>
