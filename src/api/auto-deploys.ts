// What the automatic deploys of a service do at present.
import { z } from 'zod'
import { text, time, timestamp } from './parts/fields.ts'

const Decision = z
  .object({
    head: z.string().describe('The commit, or the digest of the image.'),
    at: timestamp.describe('When it was decided.'),
    deploy_id: text.describe('The deploy that began; null if it was not deployed.'),
    reason: z.string().describe('Why.'),
  })
  .meta({ id: 'AutoDeployDecision', description: 'What was decided about a head of the source.' })

export const AutoDeploys = z
  .object({
    status: z
      .enum(['off', 'paused', 'watching', 'waiting', 'failing'])
      .describe(
        '`off`: pushes are not deployed. `paused`: they are not deployed until the service is resumed. ' +
          '`watching`: the next push is deployed. `waiting`: the newest one is deployed once its checks ' +
          'have passed. `failing`: the source, or the checks, cannot be read.',
      ),
    reason: text.describe('Why pushes are not deployed; null for `watching`.'),
    paused_by: text.describe('The rollback that paused them; null otherwise.'),
    undecided: z
      .boolean()
      .describe('Whether they are off only because the service is older than they are: no user set them.'),
    since: time.describe('Since when that cannot be read; null otherwise.'),
    decision: Decision.nullable().describe('The newest decision; null before the first.'),
    actor_id: text.describe('The actor that watches the source; null before they were first on.'),
  })
  .meta({ id: 'AutoDeploys', description: 'What the automatic deploys of a service do at present.' })
export type AutoDeploys = z.output<typeof AutoDeploys>

export const watchPaths = z.array(z.string().max(512)).max(100)

export const TestWatchPaths = z
  .strictObject({
    paths: z
      .array(z.string().min(1).max(1024))
      .min(1)
      .max(100)
      .describe('Paths of files, from the top of the repository.'),
    watch_paths: watchPaths.nullish().describe('The patterns; those of the service by default.'),
  })
  .meta({ id: 'TestWatchPaths', description: 'Paths, and the patterns that they are compared with.' })
export type TestWatchPaths = z.output<typeof TestWatchPaths>

export const WatchedPath = z
  .object({
    path: z.string().describe('The path, as it was given.'),
    watched: z.boolean().describe('Whether a push that changes it is deployed automatically.'),
    pattern: text.describe('The pattern that decides: the last one that covers the path; null if none does.'),
  })
  .meta({ id: 'WatchedPath', description: 'Whether a service watches a path.' })
export type WatchedPath = z.output<typeof WatchedPath>
