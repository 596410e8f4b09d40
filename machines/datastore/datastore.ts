// A managed datastore: created, supervised, and removed with its data only by the event `delete`, either
// immediately or through the trash. Limits are a separate region, because they can change in any state.
import { assign, setup } from 'xstate'
import { problemOf } from '../problem.ts'
import type { SlotFailure } from '../slot.ts'
import { backups } from './datastore-backups.ts'
import {
  type BackupPlan,
  type DatastoreContext,
  type DatastoreEvent,
  type DatastoreInput,
  type DatastoreLimits,
  type DueOutput,
  initialContext,
  type LossOutput,
  leftTrash,
  type Phase,
  slotInput,
  slots,
  type Trash,
  type UpgradePlan,
} from './datastore-context.ts'
import { planTrash, planTrashOnly, trashStates } from './datastore-trash.ts'
import { beginUpgrade, returnToFormer, upgrading } from './datastore-upgrade.ts'

export const version = 3

/** Version 1 had no trash, version 2 no upgrades. */
export function migrate(snapshot: unknown, _from: number): unknown {
  const old = snapshot as { context: object }
  return { ...old, context: { trash: null, upgrade: null, former: null, ...old.context } }
}

export const cleanups = ['trashDatastore', 'removeDatastore'] as const

/** The volume stays. */
export const discarded = { status: 'deleted' } as const

const firstPauseMs = 1000
/** After serving this long, a failure counts as unrelated to earlier ones. */
const settledMs = 60_000
const longestPauseMs = 300_000
const noTrash = { backupId: null, sizeBytes: null, wantedName: null, trouble: null } as Trash

const datastore = setup({
  types: {} as { context: DatastoreContext; input: DatastoreInput; events: DatastoreEvent },
  actors: slots,
  guards: {
    isDue: ({ context }) => context.dueBackupId !== null,
    hasPlan: ({ context }) => context.backups.schedule !== null,
    servedLong: (_, { servedMs }: LossOutput) => servedMs >= settledMs,
    /** A datastore that never served has no data. */
    isKept: ({ context, event }) => event.type === 'delete' && Boolean(event.keep) && context.hasServed,
    isDiscarded: ({ event }) => event.type === 'delete' && !event.keep,
    isUpgrading: ({ context: { upgrade } }) => upgrade !== null && upgrade.finishedAt === null,
    isReturn: ({ event }) => event.type === 'upgrade' && event.plan.keptBy !== null,
    isGood: (_, { isGood }: { isGood: boolean }) => isGood,
    hasVolume: (_, { hasVolume }: { hasVolume: boolean }) => hasVolume,
  },
  actions: {
    recordFailure: assign(({ context }, failure: SlotFailure) => ({
      error: problemOf(failure),
      failures: context.failures + 1,
      retryAt:
        Date.parse(failure.at) +
        Math.min(longestPauseMs, firstPauseMs * (2 ** Math.min(context.failures, 20) - 1)),
    })),
    recordLimits: assign(
      ({ context }, { memoryMb, cpus, at }: Partial<DatastoreLimits> & { at: string }) => ({
        memoryMb: memoryMb === undefined ? context.memoryMb : memoryMb,
        cpus: cpus === undefined ? context.cpus : cpus,
        updatedAt: at,
        limitsRevision: context.limitsRevision + 1,
      }),
    ),
    /** A new schedule counts from now on: backups that an earlier one missed are not caught up. */
    recordPlan: assign(({ context }, { schedule, keep, at }: Partial<BackupPlan> & { at: string }) => ({
      backups: {
        schedule: schedule === undefined ? context.backups.schedule : schedule,
        keep: keep ?? context.backups.keep,
      },
      backupsSince: schedule === undefined ? context.backupsSince : at,
      updatedAt: at,
    })),
    recordDue: assign((_, { backupId, at }: DueOutput) => ({ dueBackupId: backupId, backupsSince: at })),
    clearDue: assign({ dueBackupId: null }),
    recordTrash: assign(({ context }, change: Partial<Trash>) => ({
      trash: { ...noTrash, ...context.trash, ...change },
    })),
    recordUpgrade: assign((_, { plan, at }: { plan: UpgradePlan; at: string }) => ({
      upgrade: { ...plan, startedAt: at, finishedAt: null, error: null },
      updatedAt: at,
    })),
    failUpgrade: assign(({ context }, failure: SlotFailure) => ({
      upgrade: { ...context.upgrade!, error: problemOf(failure) },
    })),
    endUpgrade: assign(({ context }, { at }: { at: string }) => ({
      upgrade: { ...context.upgrade!, finishedAt: at },
      updatedAt: at,
    })),
    switchVersion: assign(({ context }, { at }: { at: string }) => {
      const { from, to, removal } = context.upgrade!
      return {
        version: to.version,
        former: { ...from, removalId: removal.id, switchedAt: at },
        upgrade: { ...context.upgrade!, finishedAt: at },
        updatedAt: at,
      }
    }),
    applyRestore: assign(({ context }, { at }: { at: string }) => leftTrash(context, at)),
    enterPhase: assign((_, { phase }: { phase: Phase | null }) => ({ phase })),
    clearFailures: assign({ error: null, failures: 0, retryAt: null }),
  },
})

const failureOf = ({ event }: { event: { error: unknown } }) => event.error as SlotFailure
const failed = {
  target: '#datastore.wanted.life.failed',
  actions: { type: 'recordFailure', params: failureOf },
} as const

const restart = {
  target: '#datastore.wanted.life.starting.stopping',
  actions: 'clearFailures',
} as const

export const machine = datastore.createMachine({
  id: 'datastore',
  context: ({ input }) => initialContext(input),
  initial: 'wanted',
  states: {
    wanted: {
      on: {
        delete: [
          { guard: 'isUpgrading' },
          { guard: 'isKept', target: 'trashing', actions: planTrashOnly },
          { target: 'deleting' },
        ],
      },
      type: 'parallel',
      states: {
        life: {
          initial: 'starting',
          states: {
            starting: {
              on: { restart, upgrade: returnToFormer },
              exit: assign({ phase: null }),
              initial: 'pulling',
              states: {
                stopping: {
                  entry: assign({ phase: 'stopping' }),
                  invoke: {
                    id: 'stopDatastore',
                    src: 'stopDatastore',
                    input: ({ context: { id } }) => ({ id }),
                    onDone: 'pulling',
                    onError: failed,
                  },
                },
                pulling: {
                  entry: assign({ phase: 'pulling' }),
                  invoke: {
                    id: 'obtainImage',
                    src: 'obtainImage',
                    input: slotInput,
                    onDone: 'starting',
                    onError: failed,
                  },
                },
                starting: {
                  entry: assign({ phase: 'starting' }),
                  exit: assign({ wasBegun: true }),
                  invoke: {
                    id: 'startDatastore',
                    src: 'startDatastore',
                    input: ({ context }) => ({
                      ...slotInput({ context }),
                      isNew: !context.hasServed,
                      isAfresh: !context.hasServed && context.wasBegun,
                    }),
                    onDone: {
                      target: 'probing',
                      actions: assign(({ event: { output } }) => ({
                        hostPort: output.hostPort,
                        notice: output.notice,
                      })),
                    },
                    onError: failed,
                  },
                },
                probing: {
                  entry: assign({ phase: 'probing' }),
                  invoke: {
                    id: 'awaitAnswer',
                    src: 'awaitAnswer',
                    input: slotInput,
                    onDone: {
                      target: '#datastore.wanted.life.available',
                      // Failures are reset only after a long run, so that a crash loop backs off.
                      actions: assign({ hasServed: true, error: null, retryAt: null }),
                    },
                    onError: failed,
                  },
                },
              },
            },
            available: {
              on: {
                restart,
                upgrade: [returnToFormer, beginUpgrade],
                delete: { guard: 'isKept', target: '#datastore.saving', actions: planTrash },
              },
              invoke: {
                id: 'keepDatastore',
                src: 'keepDatastore',
                input: slotInput,
                onDone: [
                  {
                    guard: { type: 'servedLong', params: ({ event }) => event.output },
                    target: 'starting',
                    actions: 'clearFailures',
                  },
                  {
                    target: 'failed',
                    actions: { type: 'recordFailure', params: ({ event }) => event.output },
                  },
                ],
                onError: failed,
              },
            },
            failed: {
              on: { restart, upgrade: returnToFormer },
              invoke: {
                id: 'awaitRetry',
                src: 'awaitRetry',
                input: ({ context: { id, retryAt, error } }) => ({
                  id,
                  wakeAt: retryAt ?? 0,
                  code: error!.code,
                }),
                onDone: 'starting',
              },
            },
            upgrading,
          },
        },
        limits: {
          initial: 'settled',
          on: {
            'limits.set': {
              target: '.applying',
              actions: { type: 'recordLimits', params: ({ event }) => event },
            },
          },
          states: {
            applying: {
              invoke: {
                id: 'applyLimits',
                src: 'applyLimits',
                input: ({ context }) => ({
                  ...slotInput({ context }),
                  memoryMb: context.memoryMb,
                  cpus: context.cpus,
                }),
                onDone: {
                  target: 'settled',
                  actions: assign(({ context, event: { output } }) => ({
                    limitsSettled: context.limitsRevision,
                    limitsTrouble: null,
                    notice: output.notice,
                  })),
                },
                onError: {
                  target: 'settled',
                  actions: assign(({ context, event }) => ({
                    limitsSettled: context.limitsRevision,
                    limitsTrouble: problemOf(event.error as SlotFailure),
                  })),
                },
              },
            },
            settled: {},
          },
        },
        backups,
      },
    },
    ...trashStates,
    deleting: {
      invoke: {
        id: 'removeDatastore',
        src: 'removeDatastore',
        input: ({ context: { id, trash } }) => ({ id, backupId: trash?.backupId ?? null }),
        onDone: 'deleted',
      },
    },
    deleted: { type: 'final' },
  },
})
