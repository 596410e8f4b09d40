// The region of a datastore that starts scheduled backups.
// A backup is its own actor. This region only decides when the next one is due.
import { type BackupPlan, type DatastoreContext, type DueOutput, slotInput } from './datastore-context.ts'

export const backups = {
  initial: 'planning',
  on: {
    'backups.set': {
      target: '.planning',
      actions: {
        type: 'recordPlan',
        params: ({ event }: { event: Partial<BackupPlan> & { at: string } }) => event,
      },
    },
  },
  states: {
    planning: {
      always: [
        { guard: 'isDue', target: 'beginning' },
        { guard: 'hasPlan', target: 'waiting' },
        { target: 'off' },
      ],
    },
    off: {},
    waiting: {
      invoke: {
        id: 'awaitBackupTime',
        src: 'awaitBackupTime',
        input: ({ context: { id, backups, backupsSince } }: { context: DatastoreContext }) => ({
          id,
          schedule: backups.schedule!,
          since: backupsSince,
        }),
        onDone: {
          target: 'beginning',
          actions: {
            type: 'recordDue',
            params: ({ event }: { event: { output: DueOutput } }) => event.output,
          },
        },
      },
    },
    // The id is committed first: a repetition after a crash finds the same backup instead of
    // starting a second.
    beginning: {
      invoke: {
        id: 'beginBackup',
        src: 'beginBackup',
        input: ({ context }: { context: DatastoreContext }) => ({
          ...slotInput({ context }),
          backupId: context.dueBackupId!,
        }),
        onDone: { target: 'planning', actions: 'clearDue' },
      },
    },
  },
} as const
