// Formats services: the colour of a state, the address.
import type { Service } from '../../api/service.ts'
import { age } from '../terminal/ages.ts'
import type { Style } from '../terminal/output.ts'

const stateStyles: Record<string, Style> = {
  live: 'green',
  deploying: 'cyan',
  degraded: 'yellow',
  failed: 'red',
  deleting: 'red',
  suspended: 'dim',
  not_deployed: 'dim',
}

export function stateStyle(state: string): Style | null {
  return stateStyles[state] ?? null
}

/** `not deployed` */
export function readable(word: string): string {
  return word.replaceAll('_', ' ')
}

export function addressOf({ url, internal_host, internal_port }: Service): string {
  if (url) return url
  return internal_host ? `${internal_host}${internal_port ? `:${internal_port}` : ''}` : ''
}

/** The address, or for a cron job its schedule: `0 3 * * *`, with the zone unless it is UTC. */
export function addressOrSchedule(service: Service): string {
  const { schedule, timezone } = service
  if (schedule === null) return addressOf(service)
  return timezone === null ? schedule : `${schedule} ${timezone}`
}

export function sourceOf({ repo_url, branch, image }: Service): string {
  if (image) return image
  if (repo_url) return branch ? `${repo_url} (${branch})` : repo_url
  return 'uploads'
}

/** `on: main` for what is deployed automatically; why it is not; null for uploads. */
export function autoDeployText(service: Service): string | null {
  const { auto_deploys, branch, image, repo_url, tag_pattern } = service
  if (repo_url === null && image === null) return null
  const { status, reason, since } = auto_deploys
  const pushes = tag_pattern ? `tags ${tag_pattern}` : `pushes to ${branch ?? 'the default branch'}`
  if (status === 'watching') return image === null ? `on: ${pushes}` : 'on'
  return since === null ? `${status}: ${reason}` : `failing since ${age(since)}: ${reason}`
}
