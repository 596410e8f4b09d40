// The server itself. Fields that come from Docker are null while it does not respond.
import { z } from 'zod'

/** The limits that all builds share; null means no limit. */
const BuildInfo = z
  .object({
    builder: z.enum(['buildkit', 'classic']),
    memory_limit_mb: z.int().nullable(),
    cpu_limit: z.number().nullable(),
    pids_limit: z.int().nullable(),
    limits_in_force: z.boolean(),
    /** The reason why the limits are not enforced; null if they are. */
    limits_reason: z.string().nullable(),
    /** The size to which the engine's build cache is pruned; null for never. */
    cache_size_mb: z.int().nullable(),
    hangs_since: z
      .string()
      .nullable()
      .meta({
        description:
          "When the engine's BuildKit began to hang; builds use the classic builder since then. " +
          'Null while it works.',
      }),
  })
  .meta({ id: 'BuildInfo' })

const bytes = z.int().min(0)

/** Disk usage by kind. */
const DiskUsage = z
  .object({
    at: z.string(),
    data: z
      .object({
        store_bytes: bytes,
        logs_bytes: bytes,
        backups_bytes: bytes,
        uploads_bytes: bytes,
        checkouts_bytes: bytes,
      })
      .meta({ description: 'The file systems of the data directory and of --backup-dir.' }),
    docker: z
      .object({
        images_bytes: bytes,
        containers_bytes: bytes,
        volumes_bytes: bytes,
        build_cache_bytes: bytes,
      })
      .nullable()
      .meta({
        description:
          'Usage of the whole engine, including other users of it; null while it does not respond.',
      }),
  })
  .meta({ id: 'DiskUsage' })

/** Monitors may add any query parameters; none is rejected. */
export const HealthQuery = z.object({
  verbose: z
    .string()
    .optional()
    .transform((text) => text !== undefined && text !== '0' && text.toLowerCase() !== 'false')
    .meta({ description: 'Problems, as codes.', type: 'boolean' }),
})
export type HealthQuery = z.output<typeof HealthQuery>

export const Info = z
  .object({
    version: z.string(),
    base_domain: z.string(),
    default_memory_limit_mb: z.int(),
    default_cpu_limit: z.number(),
    builds: BuildInfo,
    docker_version: z.string().nullable(),
    docker_cpus: z.int().nullable(),
    docker_memory_bytes: z.int().nullable(),
    disk_free_bytes: z.int(),
    disk_usage: DiskUsage.nullable().meta({
      description:
        'Measured in the background after a request, at most every five minutes; null before the ' +
        'first measurement.',
    }),
    trash_days: z.int().meta({ description: 'How long deleted datastores and disks can be restored.' }),
    uptime_seconds: z.int(),
    network_isolation: z
      .object({
        enforced: z.boolean(),
        reason: z
          .string()
          .nullable()
          .meta({ description: 'Why the rules are not in force; null if they are.' }),
      })
      .meta({ description: 'Whether the rules that isolate services from each other are in force.' }),
  })
  .meta({ id: 'Info' })
export type Info = z.output<typeof Info>

/** The OpenAPI document itself: any object. */
export const Document = z.looseObject({ openapi: z.string() }).meta({ id: 'Document' })
