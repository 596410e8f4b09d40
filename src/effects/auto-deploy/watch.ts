// Watches the source of a service: looks now, after each delivery of a push, and at each poll. Only news ends
// the watch, so that polls leave nothing in the store.
import type {
  AutoDeployPlan,
  Decision,
  PlanChange,
  Watched,
  WatchedContext,
} from '../../../machines/auto-deploy.ts'
import type { Problem } from '../../../machines/problem.ts'
import type { HookDecision } from '../../../storage/hook-deliveries.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { waitForWake } from '../../async/wait-for-wake.ts'
import { isRenamed, isSamePlan, planOf } from '../../domain/auto-deploys.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { listConnections } from '../git-connection/instance.ts'
import { forgetReader } from '../git-connection/service-access.ts'
import { isoNow } from '../iso-now.ts'
import { isUnread, newestAttempt, unreadCount } from './attempts.ts'
import { readHead } from './head.ts'
import { type Places, sharedKey } from './places.ts'
import type { AutoDeployPorts } from './ports.ts'

export interface PlanInput {
  serviceId: string
  plan: AutoDeployPlan
}

export interface WatchInput extends WatchedContext {
  id: string
  serviceId: string
}

const firstRetryMs = 30_000
const maxRetryMs = 10 * 60_000
/** The longest wait of a timer. */
export const maxPauseMs = 24 * 60 * 60_000

export const retryMs = (failures: number) => Math.min(firstRetryMs * 2 ** (failures - 1), maxRetryMs)

/** Ends with a head that is not decided about yet, with a new or a solved problem, or with a new plan. */
export async function watchSource(
  ports: AutoDeployPorts,
  places: Places,
  input: WatchInput,
  signal: AbortSignal,
): Promise<Watched> {
  const { hookDeliveries } = ports.storage
  const { plan, decision, problem, failedAt, hasLooked } = input
  let { failures } = input
  let dueAt = failedAt === null ? 0 : Date.parse(failedAt) + retryMs(failures)
  return followPlan<Watched>(ports, input, signal, async (service, isWoken) => {
    const againAt = againAtOf(ports, service.id, decision)
    // A look that succeeds does not solve what a fetch failed with.
    const nextAt =
      problem !== null && againAt < Infinity ? Math.max(dueAt, againAt) : Math.min(dueAt, againAt)
    const waitMs = nextAt - Date.now()
    const asked = hookDeliveries.openOf(service.id)
    // Something changed, which may be the remedy.
    const isAsked = asked.length > 0 || (isWoken && problem !== null)
    if (waitMs > 0 && !isAsked) return Math.min(waitMs, maxPauseMs)
    const found = await lookAt(ports, places, service, input, signal)
    const isSame = found.head === (decision?.head ?? null)
    const isAgain = isSame && againAt <= Date.now()
    const isFirst = !hasLooked && decision === null
    const isNews = found.problem === null && (problem !== null || !isSame || isAgain || isFirst)
    // A verdict answers them too; left open, they would ask again at once.
    if (asked.length > 0 && !isNews) await hookDeliveries.settle(service.id, asked, answerOf(found, decision))
    if (isNews || found.problem?.message !== problem?.message) return { ...found, isAgain, at: isoNow() }
    if (found.problem !== null) failures++
    const pauseMs = found.problem ? retryMs(failures) : plan.pollSeconds * 1000 || maxPauseMs
    dueAt = Date.now() + pauseMs
    return Math.min(pauseMs, Math.max(0, againAt - Date.now()), maxPauseMs)
  })
}

/** More would only repeat what keeps failing, as a submodule that the account may not read. */
const maxUnread = 5

/**
 * When the head is decided about again: its deploy could not read it, or the deploy that it relies on failed.
 * Never, if nothing is missing, or after too many attempts.
 */
function againAtOf({ storage }: AutoDeployPorts, serviceId: string, decision: Decision | null): number {
  const deployOf = (id: string | null | undefined) => (id ? storage.actors.record<'deploy'>(id) : null)
  if (deployOf(decision?.reliesOn)?.status === 'failed') return 0
  const deploy = deployOf(decision?.deployId)
  if (deploy === null || !isUnread(deploy) || newestAttempt(storage, serviceId)?.id !== deploy.id)
    return Infinity
  const count = unreadCount(storage, serviceId)
  return count < maxUnread ? Date.parse(deploy.finished_at!) + retryMs(count) : Infinity
}

/** To deliveries that brought nothing new. */
export function answerOf(
  { problem }: Pick<Found, 'problem'>,
  decision: WatchedContext['decision'],
): HookDecision {
  const at = isoNow()
  if (problem !== null) return { at, deploy_id: null, reason: problem.message }
  if (decision === null) return { at, deploy_id: null, reason: 'no tag matches yet' }
  return { at, deploy_id: decision.deployId, reason: decision.reason }
}

export function awaitPlan(
  ports: AutoDeployPorts,
  input: PlanInput,
  signal: AbortSignal,
): Promise<PlanChange> {
  return followPlan<PlanChange>(ports, input, signal, async () => maxPauseMs)
}

/**
 * Calls `step` until it returns an outcome instead of how long to wait, in ms; ends with a new plan. It is
 * woken by changes of the service and of git connections, which may be the remedy of a problem, and by a
 * deploy that fails.
 */
export async function followPlan<Outcome extends object>(
  { storage }: AutoDeployPorts,
  { serviceId, plan }: PlanInput,
  signal: AbortSignal,
  step: (service: ServiceRow, isWoken: boolean) => Promise<Outcome | number>,
): Promise<Outcome | PlanChange> {
  let isWoken = false
  let hasFailed = false
  let wake = () => {}
  const connected = new Set(
    listConnections(storage)
      .filter(isUsable)
      .map(({ id }) => id),
  )
  const unsubscribe = storage.changes.subscribe(({ kind, id, status, service_id }) => {
    if (kind === 'deploy' && service_id === serviceId && status === 'failed') {
      hasFailed = true
      wake()
    }
    // The looks of other services renew the token of a connection that is of no use to this one.
    const isRemedy = kind === 'git-connection' && isUsable({ status }) && !connected.has(id)
    if (kind === 'git-connection') connected[isUsable({ status }) ? 'add' : 'delete'](id)
    if (!isRemedy && !(kind === 'service' && id === serviceId)) return
    isWoken = true
    wake()
  })
  try {
    for (;;) {
      signal.throwIfAborted()
      const service = storage.services.get(serviceId)
      const current = planOf(service)
      if (!service || !current || !isSamePlan(current, plan))
        return { at: isoNow(), plan: current, isRenamed: service !== null && isRenamed(service, plan) }
      const wasWoken = isWoken
      isWoken = false
      hasFailed = false
      const outcome = await step(service, wasWoken)
      if (typeof outcome !== 'number') return outcome
      if (!isWoken && !hasFailed) await waitForWake((listener) => (wake = listener), outcome, signal)
    }
  } finally {
    unsubscribe()
  }
}

const isUsable = ({ status }: { status: string | null }) => status === 'connected'

interface Found {
  head: string | null
  problem: Problem | null
}

export async function lookAt(
  ports: AutoDeployPorts,
  places: Places,
  service: ServiceRow,
  { id, decision }: Pick<WatchInput, 'decision' | 'id'>,
  signal: AbortSignal,
): Promise<Found> {
  try {
    // An engine that is away must not take the places of others.
    if (service.image !== null) await ports.engineReady(signal)
    const key = sharedKey(ports.storage, service, 'head', service.branch, service.tag_pattern ?? null)
    const { version, movedTo } = await places(service, { key, signal }, () =>
      readHead(ports, service, id, signal),
    )
    if (movedTo !== null) await followMove(ports, service, movedTo)
    return { head: version ?? decision?.head ?? null, problem: null }
  } catch (error) {
    const problem = problemOf(error, signal)
    if (service.read_with) await forgetReader(ports.storage, service)
    return { head: null, problem }
  }
}

/** A server that renames a repository more often would keep this one busy. */
const movePauseMs = 60 * 60_000

/** Its reports and checks need the present address, and a stranger may take the former one. */
async function followMove({ storage, logger }: AutoDeployPorts, service: ServiceRow, repo_url: string) {
  const { name, id, repo_url: from, renamed: former } = service
  if (from === null || Date.now() - Date.parse(former?.at ?? '') < movePauseMs) return
  const renamed = { at: isoNow(), from }
  await storage.services.update(id, (row) => (row.repo_url === from ? { ...row, repo_url, renamed } : row))
  logger.info({ service: name, from, to: repo_url }, 'the repository of a service has moved')
}

/** A failure is a result, because the source may be read again later. A bug is not. */
export function problemOf(error: unknown, signal: AbortSignal): Problem {
  signal.throwIfAborted()
  const code = codeOf(error)
  if (code === 'internal_error' || code === 'commit_failed') throw error
  const details = error instanceof Failure ? error.facts : undefined
  return { code, message: messageOf(error), ...(details && { details }) }
}
