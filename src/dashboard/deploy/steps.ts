// The steps of a deploy's progress, from its record and its history.
import type { Deploy, HistoryEntry } from '../../api/deploy.ts'

export interface Step {
  /** A state of the chart: `building`. */
  name: string
  label: string
  state: 'done' | 'current' | 'failed' | 'canceled' | 'ahead'
  startedAt: number | null
  /** Null while it is ahead or runs. */
  durationMs: number | null
}

const labels: Record<string, string> = {
  queued: 'Queued',
  fetching: 'Fetching',
  building: 'Building',
  pulling: 'Pulling',
  preparing: 'Preparing',
  starting: 'Starting',
  checking: 'Checking',
  switching: 'Switching',
  live: 'Live',
}

const beginnings: Record<Deploy['source']['kind'], string[]> = {
  git: ['queued', 'fetching', 'building'],
  archive: ['queued', 'fetching', 'building'],
  image: ['queued', 'pulling'],
  reuse: ['queued'],
}
const ending = ['starting', 'checking', 'switching', 'live']

/** The line of states that the deploy goes through if nothing fails. A cron job is live after its start. */
export function lineOf({ source }: Pick<Deploy, 'source'>, visited: string[]): string[] {
  const hasPreDeploy = visited.includes('preparing')
  const isCronJob = visited.includes('live') && !visited.includes('switching')
  const rest = isCronJob ? ['starting', 'live'] : ending
  return [...beginnings[source.kind], ...(hasPreDeploy ? ['preparing'] : []), ...rest]
}

/** A former live deploy keeps its line: what came after `live` is not progress. */
export function toSteps(deploy: Deploy, history: HistoryEntry[]): Step[] {
  const visits = toVisits(history)
  const visited = visits.map(({ name }) => name)
  return lineOf(deploy, visited).map((name) => {
    // After a retry of a parked deploy, a state is visited again.
    const index = visited.lastIndexOf(name)
    const [visit, next] = [visits[index], visits[index + 1]]
    const durationMs = visit && next && name !== 'live' ? next.at - visit.at : null
    const state = stateOf(name, visit, next)
    return { name, label: labels[name]!, state, startedAt: visit?.at ?? null, durationMs }
  })
}

interface Visit {
  name: string
  at: number
}

/** The states in order; transitions within a state are left out. */
function toVisits(history: HistoryEntry[]): Visit[] {
  const visits = history.map(({ at, state }) => ({ name: state.split('.').at(-1)!, at: Date.parse(at) }))
  return visits.filter(({ name }, index) => name !== visits[index - 1]?.name)
}

function stateOf(name: string, visit: Visit | undefined, next: Visit | undefined): Step['state'] {
  if (!visit) return 'ahead'
  if (['failing', 'failed', 'parked'].includes(next?.name ?? '')) return 'failed'
  if (['canceling', 'canceled'].includes(next?.name ?? '')) return 'canceled'
  return next || name === 'live' ? 'done' : 'current'
}
