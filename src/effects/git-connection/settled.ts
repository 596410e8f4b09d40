// Waits until a connection has finished its current work.
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { waitFor } from '../../async/wait-for.ts'
import { withTimeout } from '../../async/with-timeout.ts'

/** Longer than a request to a provider may take. */
const timeoutMs = 60_000

/** The record of the connection once it is not in this phase. Throws `late` after a minute. */
export function waitForEndOf(
  phase: 'exchanging' | 'renewing',
  id: string,
  { actors, changes }: Pick<Storage, 'actors' | 'changes'>,
  late: Error,
): Promise<RecordOf<'git-connection'>> {
  const subscribe = (listener: () => void) =>
    changes.subscribe((change) => {
      if (change.id === id) listener()
    })
  const settled = () => {
    const record = actors.record<'git-connection'>(id)!
    return record.phase === phase ? null : record
  }
  return withTimeout(timeoutMs, undefined, (signal) => waitFor(subscribe, settled, signal), late)
}
