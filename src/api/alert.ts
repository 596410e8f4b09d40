// Alerts, and the settings of their rules.
import { z } from 'zod'
import { ruleCodes } from '../domain/alert-rules.ts'
import {
  cursor,
  id,
  identifier,
  optional,
  pageLimit,
  recorded,
  text,
  time,
  timestamp,
} from './parts/fields.ts'

const severities = ['problem', 'warning', 'info'] as const
const rule = z.enum(ruleCodes)

export const AlertParams = z.object({ id: identifier.describe('Id of the alert.') })

export const AlertsQuery = z.strictObject({
  state: z
    .enum(['open', 'raised', 'acknowledged', 'recovered', 'all'])
    .optional()
    .transform((state) => state ?? 'open')
    .describe('`open` is raised or acknowledged. Default open.'),
  service: identifier.optional().describe('Only alerts of this service or datastore: its id or name.'),
  limit: pageLimit(50),
  before: cursor('alr'),
})
export type AlertsQuery = z.output<typeof AlertsQuery>

export const Alert = z
  .object({
    id,
    rule: rule.describe('The code of the rule that is broken.'),
    status: z
      .enum(['raised', 'acknowledged', 'recovered', 'failed'])
      .describe('`failed`: its actor is parked.'),
    severity: z.enum(severities).describe('As of its newest event.'),
    title: z.string().describe('What is wrong, as a sentence.'),
    body: z.string().describe('Details; empty without any.'),
    command: text.describe('A command that shows more; null without one.'),
    subject: z
      .object({
        kind: z.string().describe('host, service, datastore, domain, actor, edge, git_connection or token.'),
        id: z.string().describe('Its id; of a domain its name.'),
        name: z.string().describe('Its name at that time.'),
      })
      .describe('What it is about.'),
    service_id: text.describe('Id of its service or datastore; null for the server.'),
    count: z.int().describe('How many equal events it stands for.'),
    created_at: timestamp.describe('When it was raised.'),
    last_at: timestamp.describe('When its newest event happened.'),
    acknowledged_at: time.describe('When it was acknowledged; null until then.'),
    acknowledged_by: text.describe('Who did that; null until then.'),
    recovered_at: time.describe('When it ended; null until then.'),
    ...recorded,
  })
  .meta({ id: 'Alert', description: 'A rule that is or was broken for one subject.' })
export type Alert = z.output<typeof Alert>

const enabled = z.boolean().describe('Whether it raises alerts.')
const threshold = z.number().nullable().describe('From which value on; null for a rule without one.')

export const AlertRule = z
  .object({
    code: rule.describe('The code of the rule.'),
    about: z.string().describe('What its alerts are about, as in the subject of an alert.'),
    severity: z.enum(severities).describe('Of its alerts, unless they become worse.'),
    when: z.string().describe('When it raises an alert.'),
    unit: z.enum(['%', 'ms', 'restarts', 'days', 'hours']).nullable().describe('Of the threshold.'),
    default_threshold: threshold,
    threshold,
    enabled,
    exceptions: z
      .array(z.object({ subject: z.string().describe('Its name or id.'), threshold, enabled }))
      .describe('Subjects with settings of their own.'),
  })
  .meta({ id: 'AlertRule', description: 'A rule that raises alerts.' })
export type AlertRule = z.output<typeof AlertRule>

export const AlertRuleParams = z.object({ code: identifier.describe('The code of the rule.') })
export type AlertRuleParams = z.output<typeof AlertRuleParams>

export const UpdateAlertRule = z
  .strictObject({
    subject: optional(identifier).describe(
      'Only for this one: id or name of a service or datastore, a domain, or another id of a subject.',
    ),
    enabled: optional(z.boolean()).describe('False ends its open alerts.'),
    threshold: optional(z.number().positive().max(1_000_000)).describe('In the unit of the rule.'),
    reset: optional(z.boolean()).describe('True removes the settings first.'),
  })
  .meta({ id: 'UpdateAlertRule', description: 'What to change.' })
export type UpdateAlertRule = z.output<typeof UpdateAlertRule>
