// The audit log: who changed what, from where, and how it ended.
import { z } from 'zod'
import { cursor, finishedAt, identifier, pageLimit, text, timestamp, whole } from './parts/fields.ts'

const instant = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z' })
  .transform((text) => Date.parse(text))
  .optional()

export const AuditQuery = z.strictObject({
  actor: identifier.optional().describe('Only entries of this actor: its kind, id, e-mail or name.'),
  subject: identifier
    .optional()
    .describe('Only entries about this: an id or a name, also of the service or datastore it belongs to.'),
  action: identifier.optional().describe('Only actions that contain this text, such as `env`.'),
  since: instant.describe('Only entries from this time on.'),
  until: instant.describe('Only entries before this time.'),
  limit: pageLimit(50),
  before: cursor('aud'),
})
export type AuditQuery = z.output<typeof AuditQuery>

const Actor = z.object({
  kind: z
    .enum(['session', 'token', 'terminal', 'visitor', 'host', 'server'])
    .describe(
      'session: a user in a browser. token: an API token. terminal: a token of `berth login`. ' +
        'visitor: a client without a credential. host: a command on the server. server: the server itself.',
    ),
  id: text.describe('Id of the session or of the token.'),
  name: text.describe('E-mail of the user, or name of the token, at that time.'),
})

const Subject = z.object({
  kind: z.string().describe('The kind of thing, such as service or token.'),
  id: text.describe('Its id, if it has one and exists.'),
  name: text.describe('Its name at that time, or what the request called it.'),
})

export const AuditEntry = z
  .object({
    id: z.string().describe('The id. Ids sort by time.'),
    at: timestamp.describe('When the request arrived.'),
    actor: Actor.describe('Who did it.'),
    address: text.describe('The address that it came from; null for several, and on the server itself.'),
    user_agent: text.describe('The program that it came from, as it calls itself.'),
    action: z.string().describe('A stable code of what was done, such as `service.deploy`.'),
    subject: Subject.describe('What it was done to.'),
    service_id: text.describe('Id of the service or datastore that it belongs to.'),
    service_name: text.describe('The name of that service or datastore at that time.'),
    changed: z
      .array(z.string())
      .describe('Names of the settings and variables that were sent, never values.'),
    created: text.describe('Id of what it made, such as a deploy.'),
    finished_at: finishedAt,
    status: whole.describe(
      'The status of the response. Without one, it runs, or the server ended before it did: the outcome ' +
        'is unknown. Also null for commands on the server.',
    ),
    code: text.describe('The error code of a request that failed.'),
    exit_code: whole.describe('The exit code of a command in a container.'),
    count: z
      .int()
      .describe(
        'How many alike requests the entry stands for: of a minute, or of an hour if there are too many.',
      ),
    request_id: text.describe('The id of the request, as in the response and in the log.'),
  })
  .meta({ id: 'AuditEntry', description: 'A change, or an attempt, as the audit log has it.' })
export type AuditEntry = z.output<typeof AuditEntry>
