// The turn of a deploy: one running deploy per service, in order of creation, derived from committed records
// only. A deploy keeps its turn during cleanup. A newer queued deploy replaces an older queued one.
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import type { Release } from '../../../../storage/releases.ts'
import type { ServiceRow, ServiceSettings } from '../../../../storage/services.ts'
import { inspectImage } from '../../../docker/images/images.ts'
import { settingsOf } from '../../../domain/service-settings.ts'
import { listens } from '../../../domain/service-types.ts'
import { Failure } from '../../../errors.ts'
import { checkFreeDisk } from '../../disk/disk.ts'
import { waitForCommit, waitForEngine } from '../../waiting.ts'
import type { DeployPhase } from '../phase.ts'
import type { DeployPorts } from '../ports.ts'
import { usesDisk } from '../start/disk-claim.ts'

/** Waits for the turn, then freezes what the deploy runs with. */
export async function awaitTurn(phase: DeployPhase, { source }: { source: DeploySource }) {
  const { ports, id, serviceId, log, signal } = phase
  const supersededBy = await waitForTurn(phase)
  if (supersededBy) return { ...noTurn, supersededBy }
  await waitForEngine(ports, signal, log.info)
  const isReuse = source.kind === 'reuse'
  const reused = isReuse ? findReusedImage(phase, source) : null
  // A deploy that could not finish does not start. A full disk never stops instances that already run.
  if (reused) await requireImage(phase, reused.image)
  else await checkFreeDisk(ports.settings)
  await ports.storage.releases.freeze(id, () => createRelease(phase, source))
  const service = requireService(ports, serviceId)
  const { settings } = phase.release
  const exclusive = settings.disk_mount_path !== null && usesDisk(ports, service.live_deploy_id)
  return {
    supersededBy: null,
    formerDeployId: service.live_deploy_id,
    exclusive,
    preDeploy: settings.pre_deploy_command !== null && !isReuse,
    onSchedule: settings.type === 'cron_job',
    checkMs: settings.health_check_timeout_seconds * 1000,
    settleMs: service.live_deploy_id && !exclusive ? settleMsOf(ports, settings) : 0,
    drainMs: settings.drain_seconds * 1000,
    reused,
  }
}

/**
 * A version that replaces a serving one must run for a while first, because many versions crash only after
 * several seconds. A static site runs Berth's own server. With a disk the former version has already stopped,
 * so every second counts.
 */
function settleMsOf(ports: DeployPorts, { type }: ServiceSettings): number {
  return type === 'static_site' || !listens({ type }) ? 0 : ports.settings.settleMs
}

const noTurn = {
  formerDeployId: null,
  exclusive: false,
  preDeploy: false,
  onSchedule: false,
  checkMs: 0,
  settleMs: 0,
  drainMs: 0,
  reused: null,
}

/** Returns the newer deploy that takes the turn instead, or null. */
async function waitForTurn({ ports, id, serviceId, log, signal }: DeployPhase): Promise<string | null> {
  let logged: string | null = null
  const turn = await waitForCommit(ports.storage.changes, serviceId, signal, () => {
    requireService(ports, serviceId)
    const { ahead, newer } = findNeighbours(ports, id, serviceId)
    if (newer || !ahead) return { supersededBy: newer }
    if (logged !== ahead) {
      log.info(`waiting for ${ahead} of this service to finish`, { brief: `behind ${ahead}` })
    }
    logged = ahead
    return null
  })
  return turn.supersededBy
}

/** Among the service's active deploys: the one ahead of this one, and the newest one queued behind it. */
function findNeighbours(ports: DeployPorts, id: string, serviceId: string) {
  let ahead: string | null = null
  let newer: string | null = null
  const isRestart = (deployId: string) => ports.storage.actors.record(deployId)?.trigger === 'restart'
  for (const other of ports.storage.actors.active('deploy', serviceId)) {
    if (other.id === id) continue
    const status = ports.storage.actors.record(other.id)?.status ?? ''
    // A restart runs old code, so it never replaces a deploy of new code.
    const replaces = other.id > id && (isRestart(id) || !isRestart(other.id))
    if (status === 'queued' && other.id > id) newer = replaces ? other.id : newer
    else if (status === 'queued' || isUnfinished(status)) ahead = other.id
  }
  return { ahead, newer }
}

/** An active deploy that failed or was canceled still removes its traces. */
function isUnfinished(status: string): boolean {
  return status === 'running' || status === 'failed' || status === 'canceled'
}

function requireService(ports: DeployPorts, serviceId: string): ServiceRow {
  const service = ports.storage.services.get(serviceId)
  if (!service || service.deleting) throw new Failure('not_found', 'the service is being deleted')
  return service
}

/** A rollback uses the release of its target; every other deploy uses the current settings. */
function createRelease({ ports, serviceId }: DeployPhase, source: DeploySource): Release {
  const target = source.kind === 'reuse' ? source.deploy_id : null
  if (target === null) {
    const settings = settingsOf(requireService(ports, serviceId))
    const env = ports.storage.env.get(serviceId)
    const recipe = source.kind === 'reuse' ? findLiveRecipe(ports, serviceId) : undefined
    return { settings, env, resolved: null, ...(recipe && { recipe }) }
  }
  const release = ports.storage.releases.get(target)
  if (!release)
    throw new Failure('image_gone', `the image of ${target} was removed: newer ones took its place`)
  return { ...release, resolved: null }
}

/** It belongs to the image, which a restart keeps. */
function findLiveRecipe({ storage }: DeployPorts, serviceId: string): Release['recipe'] {
  const id = storage.services.get(serviceId)?.live_deploy_id
  return id ? storage.releases.get(id)?.recipe : undefined
}

/** A restart starts the version that is live when it runs, not when it was requested. */
function findReusedImage({ ports, serviceId }: DeployPhase, source: DeploySource) {
  const id = source.deploy_id ?? requireService(ports, serviceId).live_deploy_id
  const reused = id ? ports.storage.actors.record(id) : null
  if (!reused) throw new Failure('conflict', 'this service is not live, so it cannot be restarted')
  return {
    image: reused.image as string,
    commitSha: reused.commit_sha as string | null,
    commitMessage: reused.commit_message as string | null,
    source: { ...(reused.source as DeploySource), kind: 'reuse' as const, deploy_id: reused.id },
  }
}

async function requireImage(phase: DeployPhase, image: string): Promise<void> {
  const found = await phase.withEngine(() => inspectImage(phase.ports.engine, image))
  if (!found)
    throw new Failure('image_gone', `the image ${image} no longer exists: it was removed from Docker`)
}
