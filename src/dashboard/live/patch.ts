// What a change in the feed means for the cached records. The second part of a key is the id of a record, and
// what hangs on it comes after: ['deploy', id], ['deploy', id, 'why']. Under ['service', id, part] is what
// belongs to a service; the services themselves, which have names too, are in service/queries.ts.
import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { Transition } from '../../api/actor.ts'
import type { FeedChange } from '../../api/feed.ts'
import { patchServices, refreshService } from '../service/queries.ts'
import { appendToHistories } from './history.ts'
import { patched } from './patched.ts'
import { refresh } from './refresh.ts'

/** The parts of a service that a change of this kind concerns. */
const partsOf: Record<string, string[]> = {
  deploy: ['deploys', 'pages of deploys', 'status'],
  instance: ['status'],
  certificate: ['certificates'],
  'job-run': ['jobs', 'pages of jobs'],
  schedule: ['schedule'],
  env: ['saved changes'],
  service: ['status', 'deliveries'],
}

/** The lists of what belongs to no service. */
const listsOf: Record<string, string> = {
  alert: 'alerts',
  'backup-place': 'backup-places',
  'git-connection': 'git-connections',
  notification: 'notifications',
  'notification-channel': 'notifications',
  'server-backup': 'server-backups',
}

export function applyChange(client: QueryClient, change: FeedChange): void {
  const { kind, id, service_id: serviceId, transition } = change
  const isSameStatus = transition !== null && show(client, serviceId, transition)
  const actorId = transition?.actor_id ?? id
  if (kind !== 'service' || actorId !== id) void readAgain(client, actorId, isSameStatus)
  const list = listsOf[kind]
  if (list) void refresh(list, () => client.invalidateQueries({ queryKey: [list] }))
  // Automatic deploys, which are shown with their service, say more than their status.
  if ((isSameStatus && kind !== 'service') || serviceId === null) return
  for (const part of partsOf[kind] ?? []) {
    const queryKey = ['service', serviceId, part]
    void refresh(queryKey.join(' '), () => client.invalidateQueries({ queryKey }))
  }
  if (['service', 'deploy', 'certificate'].includes(kind))
    void refresh(`service ${serviceId}`, () => refreshService(client, serviceId))
}

/** Shows the transition before the record is read again. Returns whether the status was known to be this. */
function show(client: QueryClient, serviceId: string | null, transition: Transition): boolean {
  const { actor_id: id, kind, status } = transition
  appendToHistories(client, transition)
  let shown: string | undefined = kind === 'deploy' ? patchServices(client, serviceId, transition) : undefined
  const records = { predicate: ({ queryKey }: { queryKey: QueryKey }) => isRecord(queryKey, id) }
  client.setQueriesData<Parameters<typeof patched>[0]>(records, (record) => {
    shown = record?.status ?? shown
    return record && patched(record, transition)
  })
  return status === shown
}

/** A record that no page shows is read when one does. What hangs on it may change with its status. */
function readAgain(client: QueryClient, id: string, onlyRecord: boolean): Promise<void> {
  const isConcerned = (key: QueryKey) =>
    isRecord(key, id) || (!onlyRecord && key[1] === id && key.at(-1) !== 'history')
  return refresh(`${id} ${onlyRecord}`, () =>
    client.invalidateQueries({ predicate: ({ queryKey }) => isConcerned(queryKey) }),
  )
}

function isRecord(key: QueryKey, id: string): boolean {
  return key.length === 2 && key[1] === id
}
