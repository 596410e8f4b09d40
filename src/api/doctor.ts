// What the server finds wrong with its host, and how to fix it.
import { z } from 'zod'
import { text } from './parts/fields.ts'

export const Doctor = z
  .object({
    checked_at: z.string().describe('When it looked. Requests within some seconds share one look.'),
    findings: z
      .array(
        z.object({
          code: z
            .string()
            .describe('A stable code (docs/doctor.md); of a good finding the name of its check.'),
          severity: z
            .enum(['problem', 'warning', 'good'])
            .describe('`problem`: something does not work. `warning`: it may soon not. `good`: no finding.'),
          found: z.string().describe('What was found, with the values.'),
          why: text.describe('Why it matters; null for a good finding.'),
          fix: text.describe('The command that fixes it; null for a good finding.'),
        }),
      )
      .describe('Problems first.'),
  })
  .meta({ id: 'Doctor', description: 'What keeps the server from working, or could soon.' })
export type Doctor = z.output<typeof Doctor>
