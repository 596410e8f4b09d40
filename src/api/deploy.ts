// The deploy in requests and responses. It must match the record that machines/deploy/deploy.ts produces.
import { z } from 'zod'
import { failure } from './parts/failure.ts'
import { flag, identifier, optional, pageFields, timestamp } from './parts/fields.ts'
import { by, recorded } from './parts/recorded.ts'

export const deployStatuses = ['queued', 'running', 'live', 'deactivated', 'failed', 'canceled'] as const
export const deployPhases = [
  'fetching',
  'building',
  'pulling',
  'preparing',
  'starting',
  'checking',
  'switching',
] as const
export const deployTriggers = ['create', 'manual', 'upload', 'rollback', 'restart'] as const

export const portSources = ['setting', 'env', 'image', 'detected', 'default'] as const
export const healthChecks = ['path', 'image', 'port', 'running'] as const

const text = z.string().nullable()

export const Deploy = z
  .object({
    id: z.string(),
    service_id: z.string(),
    status: z.enum(deployStatuses),
    phase: z.enum(deployPhases).nullable(),
    trigger: z.enum(deployTriggers),
    source: z.object({
      kind: z.enum(['git', 'archive', 'image', 'reuse']),
      repo_url: text,
      branch: text,
      commit: text,
      image: text,
      deploy_id: text,
    }),
    image: text,
    port: z.int().nullable(),
    port_source: z
      .enum(portSources)
      .nullish()
      .meta({
        description:
          'Where the port comes from: the setting, PORT in the env, the only port that the image exposes, ' +
          'the port it was found to listen on, or the default. Missing for deploys of older versions.',
      }),
    health_check: z
      .enum(healthChecks)
      .nullish()
      .meta({
        description:
          'How the deploy was checked: by health_check_path, the HEALTHCHECK of its image, a connection ' +
          'to its port, or by staying up. Missing for deploys of older versions.',
      }),
    warnings: z
      .array(
        z.object({
          code: z.enum(['volume_without_disk']),
          path: z.string().meta({ description: 'In the instances.' }),
        }),
      )
      .nullish()
      .meta({
        description:
          'What to know of a version that works. `volume_without_disk`: the image keeps data in `path` ' +
          '(VOLUME), where the service has no disk, so each instance begins with the data of the image.',
      }),
    commit_sha: text,
    commit_message: text,
    ...failure,
    created_at: timestamp,
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    ...recorded,
  })
  .meta({ id: 'Deploy' })
export type Deploy = z.output<typeof Deploy>

export const CreateDeploy = z
  .strictObject({
    commit: optional(z.string().max(255)).meta({
      description: 'A tag, or an id of 4 to 64 hex digits; by default the head of the branch.',
    }),
    clear_cache: optional(z.boolean()).meta({ description: 'Builds without the build cache.' }),
  })
  .meta({ id: 'CreateDeploy' })
export type CreateDeploy = z.output<typeof CreateDeploy>

export const Rollback = z
  .strictObject({
    deploy_id: identifier.meta({ description: 'A deploy of this service that was live before.' }),
  })
  .meta({ id: 'Rollback' })
export type Rollback = z.output<typeof Rollback>

export const UploadQuery = z.strictObject({ clear_cache: flag('Builds without the build cache.') })
export type UploadQuery = z.output<typeof UploadQuery>

export const HistoryEntry = z
  .object({
    at: timestamp,
    event: z.string(),
    state: z.string(),
    status: z.string(),
    phase: text,
    by: by.meta({ description: 'Who requested it; null for events of effects.' }),
  })
  .meta({ id: 'HistoryEntry', description: 'One transition of a chart.' })
export type HistoryEntry = z.output<typeof HistoryEntry>

export const DeployParams = z
  .object({ deploy_id: identifier.meta({ description: 'Id of the deploy.' }) })
  .transform(({ deploy_id }) => ({ id: deploy_id }))
export type DeployParams = z.output<typeof DeployParams>

export const DeployListQuery = z.strictObject(pageFields('dep'))
export type DeployListQuery = z.output<typeof DeployListQuery>

export const DeploysQuery = z.strictObject({
  ...pageFields('dep'),
  service: identifier.optional().meta({ description: 'Only deploys of this service: its id or name.' }),
  status: z.enum(deployStatuses).optional().meta({ description: 'Only deploys with this status.' }),
  trigger: z.enum(deployTriggers).optional().meta({ description: 'Only deploys with this trigger.' }),
})
export type DeploysQuery = z.output<typeof DeploysQuery>

export const DeployLogQuery = z.strictObject({
  follow: flag('Follows the log until the deploy has finished.'),
})
export type DeployLogQuery = z.output<typeof DeployLogQuery>
