// Waits for the checks of a head, and looks for a newer one at the same time.
import type { Checks, ChecksLook, Wait, Watched } from '../../../machines/auto-deploy.ts'
import type { Problem } from '../../../machines/problem.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { Failure } from '../../errors.ts'
import { type Check, readChecks } from '../../git-providers/checks.ts'
import { askAboutRepository } from '../git-connection/repository-requests.ts'
import { servingOf } from '../git-connection/service-access.ts'
import { isoNow } from '../iso-now.ts'
import type { Places } from './places.ts'
import type { AutoDeployPorts } from './ports.ts'
import { answerOf, followPlan, lookAt, maxPauseMs, problemOf, retryMs, type WatchInput } from './watch.ts'

interface ChecksInput extends WatchInput {
  waiting: Wait
}

/** A provider shows the first check of a commit some time after the push. */
const noneMs = 60_000
/** It does not show all of them at the same time. */
const someMs = 20_000
const lateMs = 2 * 60 * 60_000
const firstPauseMs = 5_000
const longestPauseMs = 2 * 60_000
/** After a failure, because the checks may run again. */
const settledPauseMs = 10 * 60_000

/** Ends with a newer head, another outcome of the checks, a new or a solved problem, or with a new plan. */
export async function awaitChecks(
  ports: AutoDeployPorts,
  places: Places,
  input: ChecksInput,
  signal: AbortSignal,
): Promise<Watched | ChecksLook> {
  const { hookDeliveries } = ports.storage
  const { plan, decision, problem, failedAt, waiting } = input
  let { failures } = input
  let sourceDueAt = 0
  let dueAt = failedAt === null ? 0 : Date.parse(failedAt) + retryMs(failures)
  return followPlan<Watched | ChecksLook>(ports, input, signal, async (service, isWoken) => {
    const asked = hookDeliveries.openOf(service.id)
    const isAsked = asked.length > 0 || (isWoken && problem !== null)
    const waitMs = Math.min(sourceDueAt, dueAt) - Date.now()
    if (waitMs > 0 && !isAsked) return Math.min(waitMs, maxPauseMs)
    let checks: Checks | Problem | null = null
    if (isAsked || sourceDueAt <= Date.now()) {
      const source = await lookAt(ports, places, service, input, signal)
      if (source.head !== null && source.head !== waiting.head) return { ...source, at: isoNow() }
      const pauseMs = source.problem ? retryMs(failures + 1) : plan.pollSeconds * 1000 || maxPauseMs
      sourceDueAt = Date.now() + pauseMs
      checks = source.problem
    }
    if (isAsked || dueAt <= Date.now()) checks ??= await readOutcome(ports, service, input, signal)
    if (checks !== null && 'code' in checks) {
      if (checks.message !== problem?.message) {
        if (asked.length > 0)
          await hookDeliveries.settle(service.id, asked, answerOf({ problem: checks }, decision))
        return { head: null, problem: checks, at: isoNow() }
      }
      failures++
      dueAt = Date.now() + retryMs(failures)
    } else if (checks !== null) {
      if (problem !== null || !isSame(checks, waiting, decision?.reason)) return { checks, at: isoNow() }
      dueAt = Date.now() + pauseOf(waiting)
    }
    const answer = answerOf({ problem }, decision)
    if (asked.length > 0) await hookDeliveries.settle(service.id, asked, answer)
    return Math.min(Math.max(0, Math.min(sourceDueAt, dueAt) - Date.now()), maxPauseMs)
  })
}

function isSame(checks: Checks, { outcome }: Wait, reason: string | undefined): boolean {
  // What took too long is reported once.
  if (checks.outcome === 'pending') return outcome === 'pending' || outcome === 'late'
  return checks.outcome === outcome && checks.reason === reason
}

/** Short at first, because most checks take minutes. */
function pauseOf({ since, outcome }: Wait): number {
  if (outcome !== 'pending') return settledPauseMs
  const waitedMs = Date.now() - Date.parse(since)
  return Math.max(firstPauseMs, Math.min(waitedMs / 10, longestPauseMs))
}

async function readOutcome(
  ports: AutoDeployPorts,
  service: ServiceRow,
  { waiting, plan }: ChecksInput,
  signal: AbortSignal,
): Promise<Checks | Problem> {
  try {
    return outcomeOf(await readFor(ports, service, waiting.head, signal), waiting, plan.needsChecks)
  } catch (error) {
    return problemOf(error, signal)
  }
}

/** Throws `git_authorization_rejected` without a connection that may read them. */
async function readFor(
  ports: AutoDeployPorts,
  service: ServiceRow,
  sha: string,
  signal: AbortSignal,
): Promise<Check[]> {
  const serving = servingOf(ports.storage, service, service.repo_url)
  if (serving === null) {
    const text = `its checks cannot be read: no git connection reads ${service.repo_url}`
    throw new Failure('git_authorization_rejected', text)
  }
  const { connection, repository } = serving
  const place = { connectionId: connection.id, repository }
  try {
    return await askAboutRepository(ports, place, signal, (instance, token) =>
      readChecks(instance, token, { repository, sha, own: 'berth/' }, signal),
    )
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new Failure(error.code, `its checks cannot be read: ${error.message}`)
  }
}

function outcomeOf(checks: Check[], { since, outcome }: Wait, isOneNeeded: boolean): Checks {
  const waitedMs = Date.now() - Date.parse(since)
  if (checks.length === 0) {
    if (waitedMs < noneMs) return { outcome: 'pending' }
    return { outcome: isOneNeeded ? 'failed' : 'passed', reason: 'it has no checks' }
  }
  const wrong =
    checks.find(({ state }) => state === 'failed') ?? checks.find(({ state }) => state === 'canceled')
  if (wrong) {
    const what = wrong.state === 'failed' ? 'failed' : 'was canceled'
    return { outcome: 'failed', reason: `its check ${wrong.name} ${what}` }
  }
  const isEarly = waitedMs < someMs && outcome === 'pending'
  if (!isEarly && checks.every(({ state }) => state === 'passed'))
    return { outcome: 'passed', reason: 'its checks passed' }
  // Checks that run again have time again.
  if (waitedMs < lateMs || outcome === 'failed') return { outcome: 'pending' }
  return { outcome: 'late', reason: 'its checks did not end within 2 hours' }
}
