// What is wrong with a service that is live.
import type { Alert } from '../../api/alert.ts'
import type { ServiceStatus } from '../../api/status.ts'
import { count } from '../../quantities.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { orNull } from '../failure.ts'
import { age } from '../terminal/ages.ts'
import { plain } from '../terminal/output.ts'

/** ` ! instances ended 3 times within 5 minutes, and are restarted; 12 restarts: berth logs shop` */
export async function instanceTrouble(cli: Cli, service: string): Promise<string[]> {
  const status = await orNull(cli.client.call<ServiceStatus>('GET', `${servicePath(service)}/status`))
  const live = status?.instances.filter(({ role }) => role === 'live') ?? []
  const restarts = live.reduce((sum, { restart_count }) => sum + restart_count, 0)
  // Restarts alone may be long ago.
  if (!status?.reason) return []
  const counted = restarts > 0 ? `; ${count(restarts, 'restart')} of its instances` : ''
  return [warning(cli, `${status.reason}${counted}: berth logs ${service}`)]
}

/** ` ! Instances of shop end repeatedly, 3m ago: berth alerts show alr-…` */
export async function openAlerts(cli: Cli, service: string): Promise<string[]> {
  const alerts = await orNull(cli.client.call<Alert[]>('GET', '/alerts', { query: { service } }))
  return (alerts ?? []).map(({ id, title, created_at }) =>
    warning(cli, `${title}, ${age(created_at)}: berth alerts show ${id}`),
  )
}

function warning({ out }: Cli, text: string): string {
  return ` ${out.paint('yellow', '!')} ${plain(text)}`
}
