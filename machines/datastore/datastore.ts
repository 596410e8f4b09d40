// A managed datastore: created, supervised, and removed with its data only by the event `delete`, either
// immediately or through the trash. Limits are a separate region, because they can change in any state.
import { assign, setup } from 'xstate'
import { problemOf } from '../problem.ts'
import { failureOf, type SlotFailure } from '../slot.ts'
import {
  type DatastoreContext,
  type DatastoreEvent,
  type DatastoreInput,
  initialContext,
  slotInput,
  slots,
  type Trash,
} from './datastore-context.ts'

export const version = 3

/** Version 1 had no trash, version 2 no upgrades. */
export function migrate(snapshot: unknown, _from: number): unknown {
  const old = snapshot as { context: object }
  return { ...old, context: { trash: null, upgrade: null, former: null, ...old.context } }
}

export const cleanups = ['trashDatastore', 'removeDatastore'] as const

export const held = ['awaitBackupTime', 'beginBackup', 'awaitExpiry'] as const

/** The volume stays. */
export const discarded = { status: 'deleted' } as const

const firstPauseMs = 1000
/** After serving this long, a failure counts as unrelated to earlier ones. */
const settledMs = 60_000
const longestPauseMs = 300_000

type Args = { context: DatastoreContext }

const upgradeInput = ({ context }: Args) => ({ ...slotInput({ context }), upgrade: context.upgrade! })

const changeTrash = ({ trash }: DatastoreContext, change: Partial<Trash>) => ({
  trash: { backupId: null, sizeBytes: null, wantedName: null, trouble: null, ...trash, ...change } as Trash,
})

const datastore = setup({
  types: {} as { context: DatastoreContext; input: DatastoreInput; events: DatastoreEvent },
  actors: slots,
  guards: {
    isDue: ({ context }) => context.dueBackupId !== null,
    hasPlan: ({ context }) => context.backups.schedule !== null,
    servedLong: (_, { servedMs }: { servedMs: number }) => servedMs >= settledMs,
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
    recordUpgrade: assign(({ event }) => {
      if (event.type !== 'upgrade') return {}
      const { plan, at } = event
      return { upgrade: { ...plan, startedAt: at, finishedAt: null, error: null }, updatedAt: at }
    }),
    failUpgrade: assign(({ context }, failure: SlotFailure) => ({
      upgrade: { ...context.upgrade!, error: problemOf(failure) },
    })),
    endUpgrade: assign(({ context }, { at }: { at: string }) => ({
      upgrade: { ...context.upgrade!, finishedAt: at },
      updatedAt: at,
    })),
    clearFailures: assign({ error: null, failures: 0, retryAt: null }),
  },
})

const failed = {
  target: '#datastore.wanted.life.failed',
  actions: { type: 'recordFailure', params: failureOf },
} as const

const restart = {
  target: '#datastore.wanted.life.starting.stopping',
  actions: 'clearFailures',
} as const

const discard = { guard: 'isDiscarded', target: 'deleting' } as const

const reopened = '#datastore.wanted.life.starting'
const failUpgrade = { type: 'failUpgrade', params: failureOf } as const
const reopenAfterFailure = {
  target: reopened,
  actions: [failUpgrade, { type: 'endUpgrade', params: failureOf }],
} as const
const cancelUpgrade = {
  target: 'undoing',
  actions: {
    type: 'failUpgrade',
    params: ({ event: { by, at } }: { event: { by: string; at: string } }) => ({
      code: 'canceled',
      message: `canceled by ${by}`,
      at,
    }),
  },
} as const
/** Possible also for a server that does not start. */
const returnToFormer = {
  guard: 'isReturn',
  target: '#datastore.wanted.life.upgrading.switching',
  actions: 'recordUpgrade',
} as const

export const machine = datastore.createMachine({
  id: 'datastore',
  description: 'Creates a Postgres or Redis, supervises it, and removes it on request.',
  context: ({ input }) => initialContext(input),
  initial: 'wanted',
  states: {
    wanted: {
      description: 'It exists: its server, its limits and its backups have a region each.',
      on: {
        delete: [
          { guard: 'isUpgrading' },
          {
            guard: 'isKept',
            target: 'trashing',
            // A datastore that is not available gets no final backup.
            actions: assign(({ context, event: { at, keep } }) =>
              changeTrash(context, { deletedAt: at, ...keep, backupId: null }),
            ),
          },
          { target: 'deleting' },
        ],
      },
      type: 'parallel',
      states: {
        life: {
          description: 'The server of the datastore.',
          initial: 'starting',
          states: {
            starting: {
              description: 'Brings the server up.',
              on: { restart, upgrade: returnToFormer },
              exit: assign({ phase: null }),
              initial: 'pulling',
              states: {
                stopping: {
                  description: 'Stops the server for a restart.',
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
                  description: 'Gets the image of its version.',
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
                  description: 'Starts the server on its volume.',
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
                  description: 'Waits until the server answers.',
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
              description: 'The server answers. Watches it until it ends.',
              on: {
                restart,
                upgrade: [returnToFormer, { target: 'upgrading', actions: 'recordUpgrade' }],
                delete: {
                  guard: 'isKept',
                  target: '#datastore.saving',
                  actions: assign(({ context, event: { at, keep } }) =>
                    changeTrash(context, { deletedAt: at, ...keep }),
                  ),
                },
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
              description: 'The server ended or did not start. Waits before the next attempt.',
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
            // The move of a Postgres to another major version. Its data is copied to a new volume while no
            // client can connect. Until the switch, a failure or a kill of berthd reopens the server on the
            // volume that it had. After the switch that volume is in the trash, and a return to it is a
            // switch without a copy.
            upgrading: {
              description: 'Moves the data to another major version. No client can connect.',
              initial: 'checking',
              exit: assign({ phase: null }),
              states: {
                checking: {
                  description: 'Checks that the upgrade is possible.',
                  entry: assign({ phase: 'checking' }),
                  on: { 'upgrade.cancel': cancelUpgrade },
                  invoke: {
                    id: 'checkUpgrade',
                    src: 'checkUpgrade',
                    input: upgradeInput,
                    onDone: 'copying',
                    onError: reopenAfterFailure,
                  },
                },
                copying: {
                  description: 'Copies the data to a new volume.',
                  entry: assign({ phase: 'copying' }),
                  on: { 'upgrade.cancel': cancelUpgrade },
                  invoke: {
                    id: 'copyData',
                    src: 'copyData',
                    input: upgradeInput,
                    onDone: 'switching',
                    onError: { target: 'undoing', actions: failUpgrade },
                  },
                },
                undoing: {
                  description: 'Removes the copy. The server opens again as it was.',
                  invoke: {
                    id: 'undoUpgrade',
                    src: 'undoUpgrade',
                    input: upgradeInput,
                    onDone: {
                      target: reopened,
                      actions: { type: 'endUpgrade', params: ({ event }) => event.output },
                    },
                  },
                },
                switching: {
                  description: 'Puts the new volume in the place of the former one.',
                  entry: assign({ phase: 'switching' }),
                  invoke: {
                    id: 'switchVolume',
                    src: 'switchVolume',
                    input: upgradeInput,
                    onDone: {
                      target: reopened,
                      actions: assign(({ context, event: { output } }) => {
                        const { from, to, removal } = context.upgrade!
                        return {
                          version: to.version,
                          former: { ...from, removalId: removal.id, switchedAt: output.at },
                          upgrade: { ...context.upgrade!, finishedAt: output.at },
                          updatedAt: output.at,
                        }
                      }),
                    },
                    onError: reopenAfterFailure,
                  },
                },
              },
            },
          },
        },
        limits: {
          description: 'The limits of memory and CPU.',
          initial: 'settled',
          on: {
            'limits.set': {
              target: '.applying',
              actions: assign(({ context, event: { memoryMb, cpus, at } }) => ({
                memoryMb: memoryMb === undefined ? context.memoryMb : memoryMb,
                cpus: cpus === undefined ? context.cpus : cpus,
                updatedAt: at,
                limitsRevision: context.limitsRevision + 1,
              })),
            },
          },
          states: {
            applying: {
              description: 'Applies changed limits to the server.',
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
                    limitsTrouble: problemOf(failureOf({ event })),
                  })),
                },
              },
            },
            settled: { description: 'The limits are in force, or the reason why not is recorded.' },
          },
        },
        // A backup is its own actor. This region only decides when the next one is due.
        backups: {
          description: 'Decides when the next backup is due. Each backup is an actor of its own.',
          initial: 'planning',
          on: {
            // A new schedule counts from now on: backups that an earlier one missed are not caught up.
            'backups.set': {
              target: '.planning',
              actions: assign(({ context, event: { schedule, keep, keepDays, place, at } }) => ({
                backups: {
                  schedule: schedule === undefined ? context.backups.schedule : schedule,
                  keep: keep ?? context.backups.keep,
                  keepDays: (keepDays === undefined ? context.backups.keepDays : keepDays) ?? null,
                  place: (place === undefined ? context.backups.place : place) ?? null,
                },
                backupsSince: schedule === undefined ? context.backupsSince : at,
                updatedAt: at,
              })),
            },
          },
          states: {
            planning: {
              description: 'Decides whether a backup is due now, later or never.',
              always: [
                { guard: 'isDue', target: 'beginning' },
                { guard: 'hasPlan', target: 'waiting' },
                { target: 'off' },
              ],
            },
            off: { description: 'Without a schedule: backups are made on request only.' },
            waiting: {
              description: 'Waits for the next backup of the schedule.',
              invoke: {
                id: 'awaitBackupTime',
                src: 'awaitBackupTime',
                input: ({ context: { id, backups, backupsSince } }) => ({
                  id,
                  schedule: backups.schedule!,
                  since: backupsSince,
                }),
                onDone: {
                  target: 'beginning',
                  actions: assign(({ event: { output } }) => ({
                    dueBackupId: output.backupId,
                    backupsSince: output.at,
                  })),
                },
              },
            },
            // The id is committed first: a repetition after a crash finds the same backup instead of
            // starting a second.
            beginning: {
              description: 'Begins the backup that is due.',
              invoke: {
                id: 'beginBackup',
                src: 'beginBackup',
                input: ({ context }) => ({ ...slotInput({ context }), backupId: context.dueBackupId! }),
                onDone: { target: 'planning', actions: assign({ dueBackupId: null }) },
              },
            },
          },
        },
      },
    },
    // A deleted datastore: a final backup, then its container is removed and its volume stays in the trash.
    // The volume is removed at its expiry or on request. Until then the datastore can be restored.
    saving: {
      description: 'Deleted: makes a final backup first.',
      on: { delete: discard },
      entry: assign({ phase: 'saving' }),
      invoke: {
        id: 'saveDatastore',
        src: 'saveDatastore',
        input: ({ context }) => ({ ...slotInput({ context }), backupId: context.trash!.backupId! }),
        onDone: [
          { guard: { type: 'isGood', params: ({ event }) => event.output }, target: 'trashing' },
          { target: 'trashing', actions: assign(({ context }) => changeTrash(context, { backupId: null })) },
        ],
      },
    },
    trashing: {
      description: 'Deleted: removes the container and puts the volume into the trash.',
      on: { delete: discard },
      entry: assign({ phase: 'stopping' }),
      invoke: {
        id: 'trashDatastore',
        src: 'trashDatastore',
        input: ({ context: { id } }) => ({ id }),
        onDone: [
          {
            guard: { type: 'hasVolume', params: ({ event }) => event.output },
            target: 'trashed',
            actions: assign(({ context, event: { output } }) =>
              changeTrash(context, { sizeBytes: output.sizeBytes }),
            ),
          },
          { target: 'deleting' },
        ],
      },
    },
    trashed: {
      description: 'In the trash. It can be restored until it expires.',
      on: {
        delete: discard,
        reclaim: {
          target: 'reclaiming',
          actions: assign(({ context, event }) =>
            changeTrash(context, { wantedName: event.name, trouble: null }),
          ),
        },
      },
      entry: assign({ phase: null }),
      invoke: {
        id: 'awaitExpiry',
        src: 'awaitExpiry',
        input: ({ context: { id, trash } }) => ({ id, wakeAt: Date.parse(trash!.expiresAt) }),
        onDone: 'deleting',
      },
    },
    reclaiming: {
      description: 'Takes the datastore out of the trash.',
      invoke: {
        id: 'reclaimDatastore',
        src: 'reclaimDatastore',
        input: ({ context: { id, trash } }) => ({ id, name: trash!.wantedName! }),
        onDone: {
          target: 'wanted',
          // It starts on its volume, as after a stop.
          actions: assign(({ context: { trash, limitsRevision }, event: { output } }) => ({
            name: trash!.wantedName!,
            trash: null,
            limitsSettled: limitsRevision,
            limitsTrouble: null,
            error: null,
            failures: 0,
            retryAt: null,
            backupsSince: output.at,
            updatedAt: output.at,
          })),
        },
        onError: {
          target: 'trashed',
          actions: assign(({ context, event }) =>
            changeTrash(context, { trouble: problemOf(failureOf({ event })) }),
          ),
        },
      },
    },
    deleting: {
      description: 'Removes the datastore with its data.',
      invoke: {
        id: 'removeDatastore',
        src: 'removeDatastore',
        input: ({ context: { id, trash } }) => ({ id, backupId: trash?.backupId ?? null }),
        onDone: 'deleted',
      },
    },
    deleted: { description: 'Removed with its data.', type: 'final' },
  },
})
