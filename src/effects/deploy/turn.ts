// The turn of a deploy: one running deploy per service, in order of creation, derived from committed records
// alone.
// Mind: whoever cleans up still has the turn; a newer queued deploy replaces an older queued one.
import type { DeploySource } from '../../../machines/deploy-context.ts'
import type { ServiceRow, ServiceSettings } from '../../../storage/services.ts'
import { Failure } from '../../errors.ts'
import { type Host, isoNow } from '../host.ts'
import { untilCommitted } from '../waiting.ts'
import { checkFreeDisk } from './disk.ts'
import { usesDisk } from './disk-claim.ts'
import { openDeployLog } from './log.ts'

/** Waits for the turn, then freezes what the deploy runs with. */
export function awaitTurn(host: Host) {
  return async (input: { id: string; serviceId: string; source: DeploySource }, signal: AbortSignal) => {
    const log = openDeployLog(host, input.id)
    const turn = await waitForTurn(host, input, signal, log.say)
    if (turn.supersededBy) return { ...noTurn, supersededBy: turn.supersededBy, at: isoNow() }
    await waitForEngine(host, signal, log.say)
    if (input.source.kind !== 'reuse') await checkFreeDisk(host.settings)
    await host.storage.releases.freeze(input.id, () => ({
      settings: settingsOf(requireService(host, input.serviceId)),
      env: host.storage.env.get(input.serviceId),
      resolved: null,
    }))
    const service = requireService(host, input.serviceId)
    const { settings } = host.storage.releases.get(input.id)!
    return {
      at: isoNow(),
      supersededBy: null,
      formerDeployId: service.live_deploy_id,
      exclusive: settings.disk_mount_path !== null && usesDisk(host, service.live_deploy_id),
      checkMs: settings.health_check_timeout_seconds * 1000,
      drainMs: settings.drain_seconds * 1000,
      reused: input.source.kind === 'reuse' ? reusedImage(host, service) : null,
    }
  }
}

const noTurn = { formerDeployId: null, exclusive: false, checkMs: 0, drainMs: 0, reused: null }

async function waitForTurn(
  host: Host,
  { id, serviceId }: { id: string; serviceId: string },
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<{ supersededBy: string | null }> {
  let told: string | null = null
  return untilCommitted(host.storage.changes, serviceId, signal, () => {
    requireService(host, serviceId)
    const { ahead, newer } = queueAround(host, id, serviceId)
    if (newer) return { supersededBy: newer }
    if (!ahead) return { supersededBy: null }
    if (told !== ahead) say(`waiting for ${ahead} of this service to finish`)
    told = ahead
    return null
  })
}

/** Who of the service's active deploys is before this one, and the newest one queued behind it. */
function queueAround(host: Host, id: string, serviceId: string) {
  let ahead: string | null = null
  let newer: string | null = null
  const isRestart = (deployId: string) => host.storage.actors.record(deployId)?.trigger === 'restart'
  for (const other of host.storage.actors.active('deploy', serviceId)) {
    if (other.id === id) continue
    const status = host.storage.actors.record(other.id)?.status ?? ''
    // A restart runs old code: it never takes the place of a deploy of new code.
    const replaces = other.id > id && (isRestart(id) || !isRestart(other.id))
    if (status === 'queued' && other.id > id) newer = replaces ? other.id : newer
    else if (status === 'queued' || isAtWork(status)) ahead = other.id
  }
  return { ahead, newer }
}

/** An active deploy that failed or was canceled still removes its traces. */
function isAtWork(status: string): boolean {
  return status === 'running' || status === 'failed' || status === 'canceled'
}

async function waitForEngine(host: Host, signal: AbortSignal, say: (line: string) => void): Promise<void> {
  const patience = setTimeout(() => say('waiting for the Docker engine, which does not answer'), 1000)
  try {
    await host.ready(signal)
  } finally {
    clearTimeout(patience)
  }
}

function requireService(host: Host, serviceId: string): ServiceRow {
  const service = host.storage.services.get(serviceId)
  if (!service || service.deleting) throw new Failure('not_found', 'the service is being deleted')
  return service
}

function settingsOf(service: ServiceRow): ServiceSettings {
  const { id, name, live_deploy_id, desired_deploy_id, degraded, deleting, ...rest } = service
  const { created_at, updated_at, revision, ...settings } = rest
  return settings
}

/** A restart starts what is live when it runs, not what was live when it was asked for. */
function reusedImage(host: Host, service: ServiceRow) {
  const live = service.live_deploy_id ? host.storage.actors.record(service.live_deploy_id) : null
  if (!live) throw new Failure('conflict', 'nothing of this service is live, so nothing can be restarted')
  return {
    image: live.image as string,
    commitSha: live.commit_sha as string | null,
    commitMessage: live.commit_message as string | null,
    source: { ...(live.source as DeploySource), kind: 'reuse' as const, deploy_id: live.id },
  }
}
