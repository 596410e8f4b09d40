// The audit log. No route removes or changes an entry.
import { z } from 'zod'
import { AuditEntry, AuditQuery } from '../../api/audit.ts'
import { type Call, get, tagged, type WithHeaders } from '../pipeline/route.ts'
import { paged } from '../records/paging.ts'

export const auditRoutes = tagged('Audit', [
  get('/audit', {
    summary: 'Lists who changed what, newest first: the newest 200,000 entries, for a year by default',
    description:
      'Every request that changes something has an entry, and so do refused ones, sign-ins, shells, and ' +
      'commands on the server. A page of a filter that matches little may be shorter than its limit, or ' +
      'empty, and still have a next one.',
    query: AuditQuery,
    response: z.array(AuditEntry),
    handler: listAudit,
  }),
])

function listAudit(call: Call<unknown, AuditQuery>): WithHeaders<AuditEntry[]> {
  const { since, until, ...filters } = call.query
  const { audit } = call.context.storage
  const { records, next } = audit.page({ ...filters, sinceMs: since, untilMs: until })
  return paged(call, records, next)
}
