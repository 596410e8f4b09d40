// What a live deploy must do with its instances, derived from its service and the disks of both deploys.
import type { ServiceRow } from '../../../../storage/services.ts'
import type { DeployPorts } from '../ports.ts'
import { usesDisk } from '../start/disk-claim.ts'

export type Duty =
  /** Instances run and get requests, and Docker restarts them after a reboot. */
  | 'serving'
  /** Another deploy is about to serve. Instances run until it is live, but a reboot must not start both. */
  | 'outgoing'
  /** Another deploy waits for the disk: instances are stopped, and open requests get little time. */
  | 'yielding'
  /** The service is suspended: instances are stopped, and open requests get their full time. */
  | 'suspended'
  /** The service is a cron job: no instance runs, its schedule starts job runs. */
  | 'scheduled'
  /** Another deploy is live, or the service is being deleted: upkeep ends. */
  | 'over'

export function dutyOf(ports: Pick<DeployPorts, 'storage'>, id: string, service: ServiceRow | null): Duty {
  if (!service || service.deleting || service.live_deploy_id !== id) return 'over'
  if (service.type === 'cron_job') return 'scheduled'
  if (service.suspended) return 'suspended'
  const desired = service.desired_deploy_id
  if (desired === id) return 'serving'
  return usesDisk(ports, id) && usesDisk(ports, desired) ? 'yielding' : 'outgoing'
}

export function instancesFor(duty: Duty, service: ServiceRow | null): number {
  return duty === 'serving' || duty === 'outgoing' ? (service?.instances ?? 0) : 0
}
