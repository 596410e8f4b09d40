// Log lines in responses. Control characters are escaped: paths and user agents come from clients.
import type { LogLine } from '../../../storage/log/logs.ts'
import type { AccessRecord } from '../../api/status.ts'
import { size } from '../../quantities.ts'

export function showActorLine({ ts, stream, line, about }: LogLine) {
  return { ts, stream, line, ...about }
}

/** A line in the runtime log. A line about missing lines has no instance. */
export function showRuntimeLine({ ts, stream, line, about }: LogLine) {
  if (about === undefined) return { ts, stream, line }
  const { instance, deploy_id, event } = about
  return { ts, stream, line, instance, deploy_id, ...(event === undefined ? {} : { event }) }
}

export function showAccessLine({ ts, stream, line, about }: LogLine) {
  const access = about?.access as AccessRecord | undefined
  if (access === undefined) return { ts, stream, line }
  // Records of former versions have no `failure`.
  return { ts, stream, line: accessText(access), access: { ...access, failure: access.failure ?? null } }
}

/** `GET /path 200 12ms 1.2KiB 203.0.113.9 "curl/8"`, and the reason of a failure */
function accessText(access: AccessRecord): string {
  const { method, path, status, duration_ms, bytes_out, client, user_agent, failure } = access
  const agent = user_agent === null ? '-' : JSON.stringify(user_agent)
  const fields = [
    method,
    path,
    status || '---',
    `${Math.round(duration_ms)}ms`,
    size(bytes_out).replace(' ', ''),
    client,
    agent,
    ...(failure ? [failure] : []),
  ]
  return fields.join(' ').replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, escaped)
}

function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
}
