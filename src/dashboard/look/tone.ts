// Which of the seven marks a status has.

export type Tone = 'waiting' | 'working' | 'healthy' | 'unhealthy' | 'failed' | 'stopped' | 'parked'

const statusesOf: Record<Tone, string> = {
  waiting: 'queued pending waiting paused following not_deployed redirect',
  working:
    'running deploying creating restarting starting started checking ordering installing undoing draining ' +
    'deleting upgrading stopping releasing measuring removing folding sending deciding',
  healthy:
    'live available good succeeded done valid serving connected approved restored kept healthy cached ' +
    'stored delivered recovered watching',
  unhealthy: 'degraded invalid unhealthy raised acknowledged failing',
  failed: 'failed expired denied',
  stopped:
    'suspended deactivated canceled released off trashed removed deleted discarded collected ended ' +
    'folded',
  parked: 'parked',
}

const tones = new Map(
  Object.entries(statusesOf).flatMap(([tone, statuses]) =>
    statuses.split(' ').map((status) => [status, tone as Tone] as const),
  ),
)

export function knownTone(status: string): Tone | undefined {
  return tones.get(status)
}

/** A status that this build does not know gets the neutral mark. */
export function toneOf(status: string): Tone {
  return tones.get(status) ?? 'waiting'
}

/** `not_deployed` → `Not deployed`. Also for a status that this build does not know. */
export function wordOf(status: string): string {
  if (status === 'deactivated') return 'Replaced'
  return status.charAt(0).toUpperCase() + status.slice(1).replaceAll('_', ' ')
}
