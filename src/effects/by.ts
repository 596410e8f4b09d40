// On whose behalf effects act: a schedule, or the server itself for a stated reason.
import type { By } from '../../storage/actors/actors.ts'

export const bySchedule: By = { kind: 'schedule', id: null, name: null }

export function byServer(reason: string): By {
  return { kind: 'server', id: null, name: reason }
}
