// Formats deploys: the colour of a status, the source, the duration.
import type { Deploy } from '../../api/deploy.ts'
import { duration } from '../../quantities.ts'
import type { Style } from '../terminal/output.ts'

const statusStyles: Record<string, Style> = {
  queued: 'cyan',
  running: 'cyan',
  live: 'green',
  deactivated: 'dim',
  failed: 'red',
  canceled: 'yellow',
}

const shortShaChars = 7

export function deployStyle({ status }: { status: string }): Style {
  return statusStyles[status] ?? 'dim'
}

/** `4f2c1ab Fix the cart`, `ghcr.io/ada/web:v1`, `upload`, `rollback to dep-…`. */
export function originOf({ commit_sha, commit_message, source, trigger }: Deploy): string {
  const [subject = ''] = commit_message?.split('\n') ?? []
  if (source.kind === 'reuse') return trigger === 'rollback' ? `rollback to ${source.deploy_id}` : trigger
  if (commit_sha) return `${commit_sha.slice(0, shortShaChars)} ${subject}`.trim()
  if (source.kind === 'image') return source.image ?? 'image'
  return source.kind === 'archive' ? 'upload' : (source.commit ?? source.branch ?? 'repository')
}

/** From the request to the outcome; empty before the outcome. */
export function durationOf({ created_at, finished_at }: Deploy): string {
  return finished_at ? duration(Date.parse(finished_at) - Date.parse(created_at)) : ''
}
