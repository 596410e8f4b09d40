// The region of a datastore in which its backups begin: by themselves, at the times its schedule says.
// A backup is an actor of its own. What is in here is only when the next one is due.
import { type BackupPlan, type DatastoreContext, type DueOutput, own } from './datastore-context.ts'

export const backups = {
  initial: 'planning',
  on: {
    'backups.set': {
      target: '.planning',
      actions: {
        type: 'keepPlan',
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
          actions: { type: 'keepDue', params: ({ event }: { event: { output: DueOutput } }) => event.output },
        },
      },
    },
    // Its id is committed first: begun again after a crash it is the same backup, not a second one.
    beginning: {
      invoke: {
        id: 'beginBackup',
        src: 'beginBackup',
        input: ({ context }: { context: DatastoreContext }) => ({
          ...own({ context }),
          backupId: context.dueBackupId!,
        }),
        onDone: { target: 'planning', actions: 'forgetDue' },
      },
    },
  },
} as const
