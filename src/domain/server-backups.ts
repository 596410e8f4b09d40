// The backups of the server that exist, and the one that runs.
import type { Storage } from '../../storage/index.ts'
import { conflict } from '../errors.ts'

type Actors = Pick<Storage, 'actors'>

/** The newest first. Deleted ones are final, so they are not active actors. */
export function listServerBackups({ actors }: Actors) {
  const ids = [...actors.active('server-backup')].map(({ id }) => id).sort()
  return ids.reverse().flatMap((id) => actors.record<'server-backup'>(id) ?? [])
}

/** For the commit that starts one: each reads and writes all that the server has. Throws `conflict`. */
export function assertNoneRuns(storage: Actors): void {
  const running = listServerBackups(storage).find(({ status }) => status === 'running')
  if (running) throw conflict(`${running.id} is still running`)
}
