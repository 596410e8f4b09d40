// Converts an access event of HAProxy to an access line: HAProxy's slots become instances of deploys.
import type { AccessEvent } from '../../edge/access-events.ts'
import type { AccessFailure, AccessLine } from '../../edge/access-line.ts'
import { numberIn } from '../../edge/routes.ts'
import type { ServiceRoute } from './service-routes.ts'

/** By HAProxy's letters about the end of a session. */
const failures: Record<string, AccessFailure> = {
  SC: 'no_connection',
  sC: 'no_connection',
  SH: 'no_response',
  PH: 'invalid_response',
  sH: 'response_timeout',
}

export function toAccessLine(event: AccessEvent, { id: serviceId, upstreams }: ServiceRoute): AccessLine {
  const slot = numberIn(event.upstream)
  const row = upstreams.find((one) => one.slot === slot)
  const durationMs = Math.max(0, event.ms)
  return {
    at: new Date(event.at - durationMs).toISOString(),
    id: event.id,
    serviceId,
    deployId: row?.deploy_id ?? null,
    instance: row?.index ?? null,
    client: event.client,
    method: event.method,
    host: event.host,
    path: event.path,
    protocol: event.protocol,
    tls: event.tls,
    // HAProxy's -1: the client disconnected before there was a response.
    status: Math.max(0, event.status),
    failure: failures[event.end] ?? null,
    bytesIn: event.in,
    bytesOut: event.out,
    durationMs,
    firstByteMs: Math.max(0, durationMs - Math.max(0, event.data)),
    // HAProxy writes `-` for a missing value.
    userAgent: event.agent === '-' ? null : event.agent,
  }
}
