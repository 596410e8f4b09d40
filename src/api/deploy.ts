// The deploy in requests and responses. It must match the record that machines/deploy/deploy.ts produces.
import { z } from 'zod'
import { failure } from './parts/failure.ts'
import {
  bounded,
  createdAt,
  finishedAt,
  flag,
  id,
  identifier,
  logWindow,
  optional,
  pageFields,
  recorded,
  serviceId,
  startedAt,
  text,
  time,
  timestamp,
  whole,
} from './parts/fields.ts'

const deployStatuses = ['queued', 'running', 'live', 'deactivated', 'failed', 'canceled'] as const
const deployPhases = [
  'fetching',
  'building',
  'pulling',
  'preparing',
  'starting',
  'checking',
  'switching',
] as const
const deployTriggers = ['create', 'manual', 'push', 'hook', 'upload', 'rollback', 'restart'] as const

export const portSources = ['setting', 'env', 'image', 'detected', 'default'] as const
export const healthChecks = ['path', 'image', 'port', 'running'] as const

export const phaseNames = ['queued', 'slot', ...deployPhases] as const

const DeployPhase = z
  .object({
    phase: z.enum(phaseNames).describe('`queued`: its turn. `slot`: a build slot. The rest: work.'),
    started_at: timestamp.describe('When it began.'),
    duration_ms: whole.describe('How long it took; null for the current phase.'),
  })
  .meta({ id: 'DeployPhase', description: 'A wait or a phase of a deploy. A repeated one is listed twice.' })
export type DeployPhase = z.output<typeof DeployPhase>

export const Deploy = z
  .object({
    id,
    service_id: serviceId,
    status: z
      .enum(deployStatuses)
      .describe(
        '`queued`: waiting for its turn. `running`: see `phase`. `live`: serving. `deactivated`: served ' +
          'until another deploy was live. `failed`: see `error`; a previous live deploy still serves. ' +
          '`canceled`: on request, or replaced in the queue by a newer deploy.',
      ),
    phase: z
      .enum(deployPhases)
      .nullable()
      .describe(
        'The phase of a running deploy, or the phase that failed or was canceled. `fetching`: the ' +
          'source. `building` or `pulling`: the image. `preparing`: the pre-deploy command. `starting`: ' +
          'the instances. `checking`: their health. `switching`: the traffic.',
      ),
    trigger: z
      .enum(deployTriggers)
      .describe(
        'What triggered the deploy. `create`: the creation of the service. `manual`: a request. ' +
          '`push`: a new head of the branch, or a new image of the tag. `hook`: its deploy hook. ' +
          '`upload`: an upload. `restart` and ' +
          '`rollback`: the request of that name.',
      ),
    source: z
      .object({
        kind: z
          .enum(['git', 'archive', 'image', 'reuse'])
          .describe(
            '`git`: a repository. `archive`: an upload. `image`: a pulled image. `reuse`: the image of ' +
              'another deploy.',
          ),
        repo_url: text.describe('The repository, without credentials.'),
        branch: text.describe('The branch.'),
        commit: text.describe('The requested commit or tag; null for the head of the branch.'),
        image: text.describe('The requested image.'),
        deploy_id: text.describe('The deploy whose image is reused.'),
      })
      .describe('The source of the deploy.'),
    image: text.describe('The image of its instances; null until known.'),
    port: whole.describe('The port of its instances; null until known.'),
    port_source: z
      .enum(portSources)
      .nullish()
      .describe(
        'Where the port comes from: the setting, PORT in the env, the only port that the image exposes, ' +
          'the port it was found to listen on, or the default. Missing for deploys of older versions.',
      ),
    health_check: z
      .enum(healthChecks)
      .nullish()
      .describe(
        'How the deploy was checked: by health_check_path, the HEALTHCHECK of its image, a connection ' +
          'to its port, or by staying up. Missing for deploys of older versions.',
      ),
    warnings: z
      .array(
        z.object({
          code: z
            .enum(['volume_without_disk', 'data_without_disk', 'page_fails'])
            .describe('The kind of warning.'),
          path: z
            .string()
            .describe('The folder for a disk, in the instances; with `page_fails`, the path of the page.'),
          reason: z.string().optional().describe('What keeps its data where, with `data_without_disk`.'),
          status: z.int().optional().describe('Of the response, with `page_fails`.'),
        }),
      )
      .nullish()
      .describe(
        'What to know of a version that works. `volume_without_disk`: the image keeps data in `path` ' +
          '(VOLUME), where the service has no disk, so each instance begins with the data of the image. ' +
          '`data_without_disk`: the source of a recipe keeps data in files that are on no disk, so each ' +
          'instance begins without it. ' +
          '`page_fails`: the first request through the edge got this `status`, of 500 or more.',
      ),
    commit_sha: text.describe('The commit that was built; null until known.'),
    commit_message: text.describe('The message of that commit.'),
    ...failure,
    created_at: createdAt,
    started_at: startedAt,
    finished_at: finishedAt,
    deadline_at: time
      .optional()
      .describe(
        'When the running phase times out; null without a limit, and while a build waits for a slot. After ' +
          'a restart of the server it has at least 30 s more. Missing for deploys of older versions.',
      ),
    phases: z.array(DeployPhase).optional().describe('Only with `include=phases`.'),
    ...recorded,
  })
  .meta({ id: 'Deploy', description: 'One attempt to make a version of a service live.' })
export type Deploy = z.output<typeof Deploy>

export const CreateDeploy = z
  .strictObject({
    commit: optional(z.string().max(255)).describe(
      'A tag, or an id of 4 to 64 hex digits; by default the head of the branch.',
    ),
    clear_cache: optional(z.boolean()).describe('Builds without the build cache.'),
  })
  .meta({ id: 'CreateDeploy', description: 'A deploy of the configured source.' })
export type CreateDeploy = z.output<typeof CreateDeploy>

export const Rollback = z
  .strictObject({ deploy_id: identifier.describe('A deploy of this service that was live before.') })
  .meta({ id: 'Rollback', description: 'The deploy to roll back to.' })
export type Rollback = z.output<typeof Rollback>

export const UploadQuery = z.strictObject({ clear_cache: flag('Builds without the build cache.') })
export type UploadQuery = z.output<typeof UploadQuery>

export const DeployParams = z
  .object({ deploy_id: identifier.describe('Id of the deploy.') })
  .transform(({ deploy_id }) => ({ id: deploy_id }))

const include = z
  .enum(['phases'])
  .optional()
  .describe('`phases`: also the times of the phases, until the deploy was live or failed.')

export const DeployQuery = z.strictObject({ include })

export const DeployListQuery = z.strictObject({ ...pageFields('dep'), include })
export type DeployListQuery = z.output<typeof DeployListQuery>

export const DeploysQuery = z.strictObject({
  ...pageFields('dep'),
  include,
  service: identifier.optional().describe('Only deploys of this service: its id or name.'),
  status: z.enum(deployStatuses).optional().describe('Only deploys with this status.'),
  trigger: z.enum(deployTriggers).optional().describe('Only deploys with this trigger.'),
})
export type DeploysQuery = z.output<typeof DeploysQuery>

export const PhaseTimesQuery = z.strictObject({
  last: bounded(10, 1, 100, 'Number of successful deploys, the newest ones.'),
})

const Spread = z
  .object({
    median_ms: z.int().describe('Half of them took no longer.'),
    p90_ms: z.int().describe('Nine of ten took no longer.'),
  })
  .meta({ id: 'Spread', description: 'How long something usually takes.' })

export const PhaseTimes = z
  .object({
    count: z.int().describe('Number of deploys that were counted.'),
    total: Spread.nullable().describe('From the request until live; null without a successful deploy.'),
    phases: z.partialRecord(z.enum(phaseNames), Spread).describe('Of the deploys that had that phase.'),
  })
  .meta({ id: 'PhaseTimes', description: 'How long the deploys of a service usually take.' })
export type PhaseTimes = z.output<typeof PhaseTimes>

export const DeployLogQuery = z.strictObject({
  follow: flag('Follows the log until the deploy has finished.'),
  ...logWindow,
})
export type DeployLogQuery = z.output<typeof DeployLogQuery>
