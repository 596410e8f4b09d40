// The effects of reports to a git provider: what is new about the deploy, and its sending.
import type { CommitState, machine, Reported, SendStatusInput } from '../../../machines/commit-status.ts'
import type { Effects } from '../../../machines/slot.ts'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { waitForWake } from '../../async/wait-for-wake.ts'
import { commitOf, isOfCommit, reportOf } from '../../domain/commit-reports.ts'
import { codeOf, Failure, messageOf, RetryLater } from '../../errors.ts'
import { sendCommitStatus } from '../../git-providers/commit-statuses.ts'
import type { Instance } from '../../git-providers/provider.ts'
import type { GitConnectionPorts } from '../git-connection/ports.ts'
import { askAboutRepository } from '../git-connection/repository-requests.ts'
import { openActorLog } from '../logs/actor-log.ts'
import { waitForCommit } from '../waiting.ts'

export interface CommitStatusPorts extends GitConnectionPorts {
  /** `url` is the address of the server's pages; null without a host of its own. */
  identity: { url: string | null }
}

export function commitStatusEffects(ports: CommitStatusPorts): Effects<typeof machine> {
  const { storage } = ports
  return {
    awaitNews: ({ serviceId, deployId, reported }, signal) =>
      waitForCommit(storage.changes, serviceId, signal, () => newsOf(storage, deployId, reported)),

    sendStatus: (input, signal) => sendNewest(ports, input, signal),

    async awaitRetry({ serviceId, connectionId, wakeAt }, signal) {
      const wasInvalid = isInvalid(storage, connectionId)
      let unsubscribe = () => {}
      const listen = (wake: () => void) => {
        unsubscribe = storage.changes.subscribe(({ id }) => {
          if (id === serviceId || (wasInvalid && id === connectionId)) wake()
        })
      }
      for (;;) {
        const isGone = storage.services.get(serviceId)?.deleting !== false
        const isRepaired = wasInvalid && !isInvalid(storage, connectionId)
        const leftMs = wakeAt - Date.now()
        if (isGone || isRepaired || leftMs <= 0) return { isGone }
        await waitForWake(listen, Math.min(leftMs, maxPauseMs), signal).finally(() => unsubscribe())
      }
    },
  }
}

/** The clock may be set. */
const maxPauseMs = 60_000

function isInvalid({ actors }: Storage, connectionId: string): boolean {
  return actors.record<'git-connection'>(connectionId)?.status === 'invalid'
}

type Deploy = RecordOf<'deploy'>

interface State {
  deploy: Deploy
  /** Null as long as the commit is unknown. */
  sha: string | null
  hasEnded: boolean
}

/** Null if there is nothing to report: a newer deploy of the same commit reports instead. */
function stateOf({ actors }: Storage, deployId: string): State | null {
  const deploy = actors.record<'deploy'>(deployId)
  if (deploy === null) return null
  const sha = commitOf(deploy)
  const hasEnded = !['queued', 'running'].includes(deploy.status) && actors.parkedOf(deployId) === null
  if (sha === null) return hasEnded ? null : { deploy, sha, hasEnded }
  const recent = actors.list('deploy', deploy.service_id, maxSearched)
  const isReplaced = recent.some((one) => one.id > deployId && isOfCommit(one) && commitOf(one) === sha)
  return isReplaced ? null : { deploy, sha, hasEnded }
}

/** The newest deploys among which another one of the same commit is searched. */
const maxSearched = 20

function newsOf(storage: Storage, deployId: string, reported: CommitState | null) {
  const state = stateOf(storage, deployId)
  if (state === null) return { hasEnded: true }
  const isNews = state.sha !== null && reportOf(state.deploy).state !== reported
  return isNews ? { hasEnded: false } : null
}

type Sent = Omit<Reported, 'at'>

const nothing: Sent = { state: null, isFinal: true, refusal: null }

/** The state is read when it is sent, not when it was new. */
async function sendNewest(
  ports: CommitStatusPorts,
  input: SendStatusInput,
  signal: AbortSignal,
): Promise<Sent> {
  const read = () => sentOf(stateOf(ports.storage, input.deployId))
  let sent: Sent | null = null
  try {
    await askAboutRepository(ports, input, signal, async (instance, token) => {
      sent = read()
      if (sent.state !== null) await send(ports, input, { instance, token, signal })
    })
    return sent ?? nothing
  } catch (error) {
    signal.throwIfAborted()
    if (!input.hasWarned) warn(ports, input.deployId, messageOf(error))
    const code = codeOf(error)
    const problem = { code, message: messageOf(error) }
    // The account may be connected again.
    if (refusals.includes(code) && !isInvalid(ports.storage, input.connectionId))
      return { ...(sent ?? read()), refusal: problem }
    const facts = error instanceof RetryLater ? { retry_after_ms: error.retryAfterSeconds * 1000 } : {}
    throw error instanceof Failure ? error.with(facts) : error
  }
}

/** No later attempt changes the answer. */
const refusals = ['git_authorization_rejected', 'invalid_request', 'not_found']

function sentOf(state: State | null): Sent {
  if (state === null || state.sha === null) return nothing
  return { state: reportOf(state.deploy).state, isFinal: state.hasEnded, refusal: null }
}

interface Call {
  instance: Instance
  token: string
  signal: AbortSignal
}

async function send(
  { storage, identity }: CommitStatusPorts,
  { deployId, serviceId, repository, label }: SendStatusInput,
  { instance, token, signal }: Call,
): Promise<void> {
  const deploy = storage.actors.record<'deploy'>(deployId)!
  const name = storage.services.nameOf(serviceId)
  const path = name && `/services/${encodeURIComponent(name)}/deploys/${deployId}`
  const url = path && identity.url && new URL(path, identity.url).href
  const status = { repository, sha: commitOf(deploy)!, label, url, ...reportOf(deploy) }
  await sendCommitStatus(instance, token, status, signal)
}

/** Dropped if the log has ended; the record of the reports has the reason too. */
function warn(ports: CommitStatusPorts, deployId: string, reason: string): void {
  openActorLog(ports, 'deploy', deployId).info(`this deploy is not reported to the git provider: ${reason}`)
}
