// The server itself. Fields that come from Docker are null while it does not respond.
import { z } from 'zod'
import { text, whole } from './parts/fields.ts'

const BuildInfo = z
  .object({
    builder: z.enum(['buildkit', 'classic']).describe('The Docker builder in use.'),
    memory_limit_mb: whole.describe('MiB.'),
    cpu_limit: z.number().nullable().describe('CPUs.'),
    pids_limit: whole.describe('Processes and threads.'),
    limits_in_force: z.boolean().describe('Whether the limits can be enforced on this host.'),
    limits_reason: text.describe('Why the limits are not enforced; null if they are.'),
    cache_size_mb: whole.describe(
      "MiB to which the engine's build cache is pruned; null if it is not pruned.",
    ),
    hangs_since: text.describe(
      "When the engine's BuildKit began to hang; builds use the classic builder since then. " +
        'Null while it works.',
    ),
  })
  .meta({ id: 'BuildInfo', description: 'Limits for all builds together; null means no limit.' })

const bytes = z.int().min(0)

const DiskUsage = z
  .object({
    at: z.string().describe('When it was measured.'),
    data: z
      .object({
        store_bytes: bytes.describe('The database of the server.'),
        logs_bytes: bytes.describe('Logs of deploys, job runs and instances.'),
        backups_bytes: bytes.describe('Backups of datastores.'),
        uploads_bytes: bytes.describe('Uploaded sources.'),
        checkouts_bytes: bytes.describe('Sources of builds.'),
      })
      .describe('The file systems of the data directory and of --backup-dir.'),
    docker: z
      .object({
        images_bytes: bytes.describe('Images.'),
        containers_bytes: bytes.describe('Files that containers wrote outside of volumes.'),
        volumes_bytes: bytes.describe('Volumes.'),
        build_cache_bytes: bytes.describe('The build cache.'),
      })
      .nullable()
      .describe('Usage of the whole engine, including other users of it; null while it does not respond.'),
  })
  .meta({ id: 'DiskUsage', description: 'Disk usage by kind, in bytes.' })

/** Monitors may add any query parameters; none is rejected. */
export const HealthQuery = z.object({
  verbose: z
    .string()
    .optional()
    .transform((text) => text !== undefined && text !== '0' && text.toLowerCase() !== 'false')
    .meta({ description: 'Problems, as codes.', type: 'boolean' }),
})
export type HealthQuery = z.output<typeof HealthQuery>

const Held = z
  .object({
    restored_at: z.string().describe('When the server was restored from a backup.'),
    backup_at: z.string().describe('The moment that the backup shows.'),
    missing: z
      .array(
        z.object({
          name: z.string().describe('The service or datastore.'),
          what: z.enum(['image', 'disk', 'data']).describe('What the backup did not contain.'),
          hint: z.string().describe('What to do about it.'),
        }),
      )
      .nullable()
      .describe('What this machine does not have; null while Docker does not respond.'),
  })
  .meta({
    id: 'Held',
    description: 'A restored server serves, but runs no schedule, renewal, refresh or notification.',
  })

export const Info = z
  .object({
    version: z.string().describe('The version of the server.'),
    base_domain: z.string().describe('Parent domain of public services: NAME.BASE-DOMAIN.'),
    default_memory_limit_mb: z.int().describe('MiB per instance or datastore without its own limit.'),
    default_cpu_limit: z.number().describe('CPUs per instance or datastore without its own limit.'),
    builds: BuildInfo.describe('How images are built, and the limits of builds.'),
    docker_version: text.describe('The version of the Docker engine.'),
    docker_cpus: whole.describe('CPUs of the Docker engine.'),
    docker_memory_bytes: whole.describe('Memory of the Docker engine.'),
    disk_free_bytes: z.int().describe('Free space on the disk of the data directory.'),
    disk_usage: DiskUsage.nullable().describe(
      'Measured in the background after a request, at most every five minutes; null before the ' +
        'first measurement.',
    ),
    trash_days: z.int().describe('How long deleted datastores and disks can be restored.'),
    held: Held.nullable().describe('Set while a restored server waits for its activation.'),
    uptime_seconds: z.int().describe('Seconds since the server started.'),
    network_isolation: z
      .object({
        enforced: z.boolean().describe('Whether the rules are in force.'),
        reason: text.describe('Why the rules are not in force; null if they are.'),
      })
      .describe('Whether the rules that isolate services from each other are in force.'),
  })
  .meta({
    id: 'Info',
    description:
      'The server, its defaults and its host. Facts from Docker are null while Docker does not ' + 'respond.',
  })
export type Info = z.output<typeof Info>

export const Document = z
  .looseObject({ openapi: z.string().describe('The version of the OpenAPI specification.') })
  .meta({ id: 'Document', description: 'This document.' })
