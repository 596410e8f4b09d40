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
          '`watching`: the next push is deployed. `waiting`: the newest one is deployed once its checks have ' +
          'passed. `failing`: the source, or the checks, cannot be read.',
      ),
    reason: text.describe('Why pushes are not deployed; null for `watching`.'),
    since: time.describe('Since when that cannot be read; null otherwise.'),
    decision: Decision.nullable().describe('The newest decision; null before the first.'),
  })
  .meta({ id: 'AutoDeploys', description: 'What the automatic deploys of a service do at present.' })
export type AutoDeploys = z.output<typeof AutoDeploys>
