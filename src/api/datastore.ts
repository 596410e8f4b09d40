// A managed datastore in responses, and the settings that a client may change. Responses contain the password
// because clients need it; logs, errors and events must not.
import { z } from 'zod'
import { failure } from './parts/failure.ts'
import { flag, identifier, optional, purge, timestamp } from './parts/fields.ts'
import { cpuLimit, memoryLimit } from './parts/limits.ts'
import { Name } from './parts/name.ts'
import { recorded } from './parts/recorded.ts'
import { scheduleText } from './schedule.ts'

export const datastoreKinds = ['postgres', 'redis'] as const
export const datastoreStatuses = ['creating', 'available', 'restarting', 'failed', 'deleting'] as const

const text = z.string().nullable()
const whole = z.int().nullable()

export const DatastoreParams = z.object({
  id: identifier.meta({ description: 'Id or name of a datastore.' }),
})
export type DatastoreParams = z.output<typeof DatastoreParams>

export const DeleteDatastoreQuery = z.strictObject({
  force: flag('Delete although services refer to it: they fail to deploy or restart then.'),
  purge,
})
export type DeleteDatastoreQuery = z.output<typeof DeleteDatastoreQuery>

const word = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, { error: 'must be 1 to 63 letters, digits and _, no digit first' })

/** Names that the server keeps for itself. */
export const isReservedRole = (text: string) => /^pg_|^(public|none)$/i.test(text)
export const isReservedDatabase = (text: string) => /^template[01]$/i.test(text)
const database = word.refine((text) => !isReservedDatabase(text), { error: 'is a template of Postgres' })
const username = word.refine((text) => !isReservedRole(text), {
  error: 'is reserved by Postgres: it must not begin with pg_, and not be public or none',
})

const limits = {
  memory_limit_mb: memoryLimit.meta({
    description: 'MiB, from 16 to 1048576 (1 TiB); 0 or left out is the server default.',
  }),
  cpu_limit: cpuLimit.meta({
    description: 'CPUs, from 0.01 to 512, rounded to 0.01; 0 or left out is the server default.',
  }),
}

const shared_network = optional(z.boolean()).meta({
  description:
    'Every service may connect to it; else only those whose env refers to it. At once. By default false.',
})
const backups = {
  backup_schedule: scheduleText.meta({
    description: 'When it is backed up by itself, as cron writes it, in UTC; empty for never.',
  }),
  backup_keep: optional(z.int().min(1).max(1000)).meta({
    description: 'How many of the backups that the schedule began are kept; without it 7.',
  }),
}

export const CreateDatastore = z
  .strictObject({
    kind: z.enum(datastoreKinds),
    name: Name,
    version: optional(
      z
        .string()
        .max(16)
        .regex(/^\d+(\.\d+)*$/, { error: 'must be digits and dots' }),
    ).meta({ description: 'Of the server; without it 17 for postgres and 8 for redis.' }),
    database: optional(database).meta({ description: 'Postgres only; without it the name, with _ for -.' }),
    username: optional(username).meta({ description: 'Postgres only; without it the database.' }),
    ...limits,
    ...backups,
    shared_network,
  })
  .meta({ id: 'CreateDatastore' })
export type CreateDatastore = z.output<typeof CreateDatastore>

export const UpdateDatastore = z.strictObject({ ...limits, ...backups, shared_network }).meta({
  id: 'UpdateDatastore',
  description: 'Limits are applied at once and in place. An empty one applies the stored ones again.',
})
export type UpdateDatastore = z.output<typeof UpdateDatastore>

const masked = 'null for a token whose role is not `admin`.'

export const Datastore = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(datastoreKinds),
    version: z.string(),
    status: z.enum(datastoreStatuses).meta({
      description:
        '`creating`: it never served yet. `available`: it serves. `restarting`: it served, and is started ' +
        'again. `failed`: it does not serve, and is tried again, later each time. `deleting`: it is on its ' +
        'way into the trash.',
    }),
    phase: z.enum(['pulling', 'stopping', 'starting', 'probing', 'saving']).nullable().meta({
      description: 'The current step of making it serve or deleting it (`saving` is its final backup).',
    }),
    ...failure,
    notice: text.meta({ description: 'What of its limits the host cannot give.' }),
    next_attempt_at: timestamp.nullable(),
    database: text,
    username: z.string(),
    password: text.meta({ description: masked }),
    host_port: whole,
    internal_host: z.string().meta({ description: 'As services reach it.' }),
    internal_port: z.int(),
    internal_url: text.meta({ description: masked }),
    external_url: text.meta({
      description: `As the host reaches it; null until it has a port, and ${masked}`,
    }),
    memory_limit_mb: whole.meta({ description: 'MiB; null is the server default.' }),
    cpu_limit: z.number().nullable().meta({ description: 'CPUs; null is the server default.' }),
    backup_schedule: text.meta({ description: 'As cron writes it, in UTC; null for never.' }),
    backup_keep: z.int(),
    shared_network: z.boolean(),
    next_backup_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    ...recorded,
  })
  .meta({ id: 'Datastore' })
export type Datastore = z.output<typeof Datastore>
