// An independent model of a deploy, to compare the real chart with. If they differ, one of them is wrong.
import type { DeploySource } from '../../machines/deploy/deploy-context.ts'
import type { ServiceRow } from '../../storage/services.ts'
import { slotOf } from '../support/machines/deploy-chart.ts'

/** What is known before a deploy starts. */
export interface Plan {
  id: string
  serviceId: string
  source: DeploySource['kind']
  formerDeployId: string | null
  isSuperseded: boolean
  preDeploy: boolean
  exclusive: boolean
}

export interface Step {
  event: string
  state: string
}

export interface Shown {
  status: string
  phase: string | null
}

export const ends = ['deactivated', 'failed', 'canceled']

const howImagesCome: Record<Plan['source'], string[]> = {
  git: ['fetching', 'building'],
  archive: ['fetching', 'building'],
  image: ['pulling'],
  reuse: [],
}

/** The states of a successful deploy. */
export function happyPath({ source, preDeploy }: Plan): string[] {
  const prepared = preDeploy && source !== 'reuse' ? ['preparing'] : []
  const phases = [...howImagesCome[source], ...prepared, 'starting', 'checking', 'switching']
  return ['queued', ...phases.map((phase) => `running.${phase}`), 'live', 'draining', 'deactivated']
}

/** Neither live nor ended: it can be canceled, and it can fail. */
export function isOpen(state: string): boolean {
  return state === 'queued' || state.startsWith('running.')
}

/** The target of an event; undefined if the state does not allow it. */
export function nextState(plan: Plan, state: string, event: string): string | undefined {
  if (event === 'cancel') return isOpen(state) ? 'canceling' : undefined
  if (event === 'instances.reported') return state === 'live' ? 'live' : undefined
  if (event === `${slotOf[state]}.failed`) return isOpen(state) ? 'failing' : undefined
  if (event !== `${slotOf[state]}.done`) return undefined
  if (state === 'failing') return 'failed'
  if (state === 'canceling') return 'canceled'
  if (state === 'queued' && plan.isSuperseded) return 'canceling'
  const path = happyPath(plan)
  return path[path.indexOf(state) + 1]
}

/** The expected record after these steps. */
export function shownAfter(steps: Step[]): Shown {
  const { state } = steps.at(-1)!
  if (state === 'queued' || state === 'live') return { status: state, phase: null }
  if (state === 'draining' || state === 'deactivated') return { status: 'deactivated', phase: null }
  const running = steps.findLast(({ state }) => state.startsWith('running.'))
  const phase = running ? running.state.slice('running.'.length) : null
  if (state.startsWith('running.')) return { status: 'running', phase }
  return { status: state.startsWith('fail') ? 'failed' : 'canceled', phase }
}

/** The expected live and desired deploy of the service after these steps. */
export function serviceAfter(plan: Plan, steps: Step[]) {
  const lived = steps.findIndex(({ state }) => state === 'live')
  const isDegraded = steps.slice(lived).some(({ event }) => event === 'instances.reported')
  if (lived >= 0) return serviceOf(plan.id, plan.id, isDegraded)
  return serviceOf(plan.formerDeployId, claims(plan, steps) ? plan.id : plan.formerDeployId, false)
}

function serviceOf(live: string | null, desired: string | null, degraded: boolean) {
  return {
    live_deploy_id: live,
    desired_deploy_id: desired,
    degraded,
  } satisfies Partial<ServiceRow>
}

/** A service is claimed for the switch; with a disk, from the start until the cleanup is complete. */
function claims({ exclusive }: Plan, steps: Step[]): boolean {
  const { state } = steps.at(-1)!
  if (!exclusive) return state === 'running.switching'
  return steps.some((step) => step.state === 'running.starting') && !ends.includes(state)
}
