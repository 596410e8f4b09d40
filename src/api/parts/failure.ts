// Why a record failed: the text for people, the code and the details for programs, and what to do about it.
import { z } from 'zod'
import { errorCodes } from '../../../machines/error-codes.ts'
import { id, name, text } from './fields.ts'

const code = z
  .enum(errorCodes)
  .nullish()
  .describe('Why it failed, for programs. Missing in records of older servers.')

const details = z
  .record(z.string(), z.union([z.string(), z.number()]))
  .nullish()
  .describe(
    'Details of the code: `port`, `reason`, `default_branch`, `folder`, `deploy_id`, `step`, `variable`, ' +
      '`path`, `disk`, `owner`, `user`.',
  )

export const failure = {
  error: text.describe('Why it failed or was canceled.'),
  error_code: code,
  error_details: details,
  hint: text.optional().describe('What to do about it; null or missing if nothing failed.'),
}

const Phase = z
  .object({
    name,
    duration_ms: z.int().describe('Until now, for the current phase.'),
    failed: z.boolean().describe('Whether this phase ended in failure.'),
  })
  .meta({ id: 'PhaseTime', description: 'How long a phase took.' })

export const Why = z
  .object({
    id,
    status: z.string().describe('As in the record.'),
    phase: text.describe('The current phase, or the phase that failed.'),
    reason: text.describe('Why it failed; null if nothing failed.'),
    code,
    details,
    failed_step: text.describe('The build step that failed, such as `RUN npm run build`.'),
    error_line: text.describe('A line before `lines` that shows the error; null without one.'),
    lines: z.array(z.string()).describe('The last lines of the failed step, or of the log.'),
    hint: text.describe('What to do about it.'),
    commands: z.array(z.string()).describe('Commands from the hint.'),
    phases: z.array(Phase).describe('Phases in order, until the outcome.'),
  })
  .meta({
    id: 'Why',
    description: 'An explanation: the failure, what to do about it, and how long each phase took.',
  })
export type Why = z.output<typeof Why>
