// The recipe by which a version was built, instead of a Dockerfile of its author.
import { z } from 'zod'
import { text } from './parts/fields.ts'

export const Recipe = z
  .object({
    deploy_id: z.string().describe('The deploy that built it.'),
    version: z.int().describe('Raised when recipes give another Dockerfile for the same source.'),
    builder: z.string().describe('`recipe`.'),
    choices: z
      .array(
        z.object({
          what: z.string().describe('What was chosen, such as `node 22`.'),
          reason: z.string().describe('What decided it, such as `.nvmrc`.'),
        }),
      )
      .describe('In the order of the Dockerfile.'),
    dockerfile: z.string().describe('The Dockerfile that was built.'),
    ignore: z.string().describe('Its .dockerignore.'),
    base_images: z
      .record(z.string(), z.string())
      .describe('The digests that the tags of its base images had, of those that came from a registry.'),
    pre_deploy_command: text.describe(
      'What the source itself says to run once before a new version starts, if the service has no such ' +
        'setting: the `release` line of a Procfile.',
    ),
    proposals: z
      .array(
        z.object({
          setting: z.string().describe('A setting of the service.'),
          value: z.string().describe('What it could be.'),
          reason: z.string().describe('What suggests it.'),
        }),
      )
      .describe('What is only inferred: it is never applied.'),
    workers: z
      .array(
        z.object({
          name: z.string().describe('Its name in the Procfile.'),
          command: z.string().describe('Its command.'),
        }),
      )
      .describe('Other processes of the source, which are not started.'),
    stored_data: z
      .array(
        z.object({
          kind: z.enum(['database', 'files']).describe('A database in files, or uploads.'),
          library: z.string().describe('What keeps it, such as `better-sqlite3`.'),
          path: text.describe('Where, in the instances; null if the source does not show it.'),
          variable: text.describe('A variable that names another path.'),
          base: z.string().describe('What a relative path in the variable is relative to.'),
          disk: z.string().describe('The folder that a disk can cover.'),
          reason: z.string().describe('What keeps its data where, as a sentence.'),
        }),
      )
      .optional()
      .describe('What each instance begins without, unless it is on a disk. Missing for older deploys.'),
  })
  .meta({ id: 'Recipe', description: 'How a source without a Dockerfile was built, and why.' })
export type Recipe = z.output<typeof Recipe>
