// A managed datastore. Responses contain the password because clients need it; logs and events must not.
import { z } from 'zod'
import { failure } from './parts/failure.ts'
import {
  clearable,
  clearableByZero,
  cpuLimit,
  createdAt,
  finishedAt,
  flag,
  id,
  identifier,
  memoryLimit,
  Name,
  name,
  nextAttemptAt,
  optional,
  purge,
  recorded,
  text,
  time,
  timestamp,
  updatedAt,
  whole,
} from './parts/fields.ts'
import { scheduleText } from './schedule.ts'

const serverVersion = z
  .string()
  .max(16)
  .regex(/^\d+(\.\d+)*$/, { error: 'must be digits and dots' })

export const UpgradeDatastore = z
  .strictObject({
    version: optional(serverVersion).describe('The newer major version of Postgres.'),
    back: optional(z.boolean()).describe(
      'Returns to the version before the newest upgrade, without the writes since then.',
    ),
  })
  .refine(({ version, back }) => (version === undefined) === (back === true), {
    error: 'give either version or back',
  })
  .meta({
    id: 'UpgradeDatastore',
    description: 'An upgrade to a newer major version, or the return from one.',
  })
export type UpgradeDatastore = z.output<typeof UpgradeDatastore>

export const UpgradeEstimateQuery = z.strictObject({
  version: serverVersion.describe('The newer major version of Postgres.'),
})
export type UpgradeEstimateQuery = z.output<typeof UpgradeEstimateQuery>

export const UpgradeEstimate = z
  .object({
    from: z.string().describe('The version that it has.'),
    to: z.string().describe('The requested version.'),
    size_bytes: z.int().describe('The size of all databases.'),
    downtime_seconds: z.int().describe('How long no client can connect, at 10 MiB of data per second.'),
  })
  .meta({ id: 'UpgradeEstimate', description: 'What an upgrade would take.' })
export type UpgradeEstimate = z.output<typeof UpgradeEstimate>

const upgrade = z
  .object({
    id,
    from: z.string().describe('The version before.'),
    to: z.string().describe('The version after it.'),
    error: text.describe('Why it failed; null if it did not.'),
    error_code: text.describe('The stable code of the error.'),
    started_at: timestamp.describe('When it started; null until then.'),
    finished_at: finishedAt,
  })
  .nullable()
  .describe('The newest upgrade, or return from one; `finished_at` is null while it runs.')

const former = z
  .object({
    version: z.string().describe('The version of Postgres.'),
    switched_at: timestamp.describe('When it was left.'),
    expires_at: time.describe('When its data is deleted; null for never.'),
  })
  .nullable()
  .describe(
    'The version before the newest upgrade, while its data is in the trash. A return to it loses the ' +
      'writes since `switched_at`.',
  )

export const datastoreKinds = ['postgres', 'redis'] as const
const datastoreStatuses = ['creating', 'available', 'restarting', 'upgrading', 'failed', 'deleting'] as const

export const DatastoreParams = z.object({ id: identifier.describe('Id or name of the datastore.') })

export const DeleteDatastoreQuery = z.strictObject({
  force: flag('Deletes the datastore even if services refer to it. Their next deploy or restart then fails.'),
  purge,
})
export type DeleteDatastoreQuery = z.output<typeof DeleteDatastoreQuery>

const word = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, {
  error: 'must be 1 to 63 letters, digits and _, and not start with a digit',
})

/** Names that the server keeps for itself. */
export const isReservedRole = (text: string) => /^pg_|^(public|none)$/i.test(text)
export const isReservedDatabase = (text: string) => /^template[01]$/i.test(text)
const database = word.refine((text) => !isReservedDatabase(text), {
  error: 'is a template database of Postgres',
})
const username = word.refine((text) => !isReservedRole(text), {
  error: 'is reserved by Postgres: it must not start with pg_, and must not be public or none',
})

const limits = {
  memory_limit_mb: memoryLimit.describe(
    'MiB, from 16 to 1048576 (1 TiB); 0, or no value, is the server default.',
  ),
  cpu_limit: cpuLimit.describe(
    'CPUs, from 0.01 to 512, rounded to 0.01; 0, or no value, is the server default.',
  ),
}

const shared_network = optional(z.boolean()).describe(
  'Allows every service to connect. Otherwise only services whose env refers to the datastore. ' +
    'Takes effect immediately. Default false.',
)
const backups = {
  backup_schedule: scheduleText.describe('Cron expression for scheduled backups, in UTC; empty for none.'),
  backup_keep: optional(z.int().min(1).max(1000)).describe(
    'Number of scheduled backups to keep; 7 by default.',
  ),
  backup_keep_days: clearableByZero(z.int().min(0).max(3650)).describe(
    'Days after which a newer scheduled backup also removes an older one; 0, or no value, for no such limit.',
  ),
  backup_place: clearable(z.string().max(64)).describe(
    'Name of the backup place of new backups; empty, or no value, for the default of the server.',
  ),
}

export const CreateDatastore = z
  .strictObject({
    kind: z.enum(datastoreKinds).describe('Postgres or Redis.'),
    name: Name.describe(
      'Unique among services and datastores. Services connect to the datastore by this name.',
    ),
    version: optional(serverVersion).describe(
      'Version of the server; by default 17 for postgres and 8 for redis.',
    ),
    database: optional(database).describe('Postgres only. By default the name, with _ instead of -.'),
    username: optional(username).describe('Postgres only. By default the name of the database.'),
    ...limits,
    ...backups,
    shared_network,
  })
  .meta({ id: 'CreateDatastore', description: 'A new datastore.' })
export type CreateDatastore = z.output<typeof CreateDatastore>

export const UpdateDatastore = z.strictObject({ ...limits, ...backups, shared_network }).meta({
  id: 'UpdateDatastore',
  description:
    'Limits take effect immediately, without a restart. An empty object applies the stored limits again.',
})
export type UpdateDatastore = z.output<typeof UpdateDatastore>

const masked = 'Null for tokens whose role is not `admin`.'

export const Datastore = z
  .object({
    id,
    name,
    kind: z.enum(datastoreKinds).describe('Postgres or Redis.'),
    version: z.string().describe('The version of Postgres or Redis.'),
    status: z
      .enum(datastoreStatuses)
      .describe(
        '`creating`: not yet available for the first time. `available`: serving. `restarting`: was ' +
          'available, is being restarted. `upgrading`: moves to another version; it serves while ' +
          '`phase` is `checking`. `failed`: unavailable, retried with growing delays. `deleting`: being ' +
          'moved to the trash.',
      ),
    phase: z
      .enum(['pulling', 'stopping', 'starting', 'probing', 'saving', 'checking', 'copying', 'switching'])
      .nullable()
      .describe('Current step of the start, the deletion (`saving` is the final backup) or the upgrade.'),
    ...failure,
    notice: text.describe('Limits that the host cannot provide.'),
    next_attempt_at: nextAttemptAt,
    database: text.describe('The database; null for Redis.'),
    username: z.string().describe('The user of the connection strings.'),
    password: text.describe(masked),
    host_port: whole.describe(
      'The port on the host; null until it is allocated. Another one only if it was taken during a stop.',
    ),
    internal_host: z.string().describe('Address for services.'),
    internal_port: z.int().describe('The port for services.'),
    internal_url: text.describe(masked),
    external_url: text.describe(
      'Address for the host; null until a port is allocated, and for tokens whose role is not `admin`.',
    ),
    memory_limit_mb: whole.describe('MiB; null for the server default.'),
    cpu_limit: z.number().nullable().describe('CPUs; null for the server default.'),
    backup_schedule: text.describe('Cron expression in UTC; null without a schedule.'),
    backup_keep: z.int().describe('The number of scheduled backups to keep.'),
    backup_keep_days: whole.describe('Days for which scheduled backups are kept; null for no such limit.'),
    backup_place: text.describe('The place of new backups; null for the default of the server.'),
    shared_network: z.boolean().describe('Whether every service may connect.'),
    upgrade,
    former,
    next_backup_at: time.describe('When the next scheduled backup is due; null without a schedule.'),
    created_at: createdAt,
    updated_at: updatedAt,
    ...recorded,
  })
  .meta({ id: 'Datastore', description: 'A managed Postgres or Redis.' })
export type Datastore = z.output<typeof Datastore>
