// What differs between two deploys, or between a deploy and what is saved for the next one.
import { z } from 'zod'
import { text } from './parts/fields.ts'

export const DeployDiffQuery = z.strictObject({
  against: z
    .string()
    .regex(/^(live|saved|dep-[0-9a-z]{26})$/, { error: 'must be live, saved, or the id of a deploy' })
    .default('live')
    .describe(
      'What to compare with. `live`: the live deploy. `saved`: the settings and variables of the next ' +
        'deploy. Or the id of another deploy of the service.',
    ),
})
export type DeployDiffQuery = z.output<typeof DeployDiffQuery>

export const RollbackObstacle = z
  .object({
    code: z
      .enum(['other_service', 'never_live', 'image_removed', 'image_missing', 'suspended', 'deleting'])
      .describe(
        '`image_removed`: newer images took its place. `image_missing`: it was removed from Docker. ' +
          '`suspended`, `deleting`: the service.',
      ),
    reason: z.string().describe('Follows the name of the deploy in a sentence.'),
    hint: text.describe('What to do instead.'),
  })
  .meta({ id: 'RollbackObstacle', description: 'Why a rollback to a deploy would be refused.' })
export type RollbackObstacle = z.output<typeof RollbackObstacle>

const value = z
  .union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.record(z.string(), z.string())])
  .nullable()

const keys = z.array(z.string())
const from = 'In the version to compare with.'
const to = 'In the deploy of the path.'

export const DeployDiff = z
  .object({
    against: text.describe('Id of the compared deploy, or `saved`; null if no deploy is live.'),
    complete: z
      .boolean()
      .describe(
        'Whether settings and variables were compared. Those of a failed deploy are gone, and those of one ' +
          'whose image was removed.',
      ),
    obstacle: RollbackObstacle.nullable().describe('Null if a rollback to the deploy is possible.'),
    commit: z
      .object({
        from: text.describe(from),
        to: text.describe(to),
        compare_url: text.describe('The commits between them, at the git provider; null if unknown.'),
      })
      .nullable()
      .describe('Null if it is the same, or not known yet.'),
    image: z
      .object({ from: text.describe(from), to: text.describe(to) })
      .nullable()
      .describe('The pulled image; null if it is the same, or none is pulled.'),
    settings: z
      .array(
        z.object({
          field: z.string().describe('A field of the service.'),
          from: value.describe(from),
          to: value.describe(to),
        }),
      )
      .describe('Settings that take effect with a deploy. Others are always those of the service.'),
    env: z
      .object({
        added: keys.describe('Only in the deploy of the path.'),
        changed: keys.describe('With another value.'),
        removed: keys.describe('Only in the version to compare with.'),
      })
      .describe('Variables by key. Values are not part of any response.'),
  })
  .meta({
    id: 'DeployDiff',
    description: 'What differs: `from` is the deploy to compare with, `to` is the deploy of the path.',
  })
export type DeployDiff = z.output<typeof DeployDiff>
