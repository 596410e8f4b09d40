// Aborts the work of a run when its service is suspended or deleted.
import { withLinkedSignal } from '../../async/linked-signal.ts'
import { Failure } from '../../errors.ts'
import type { JobRunPorts } from './ports.ts'

/** The work's signal ends with the outer one, or with `withdrawn` as soon as the service runs nothing. */
export function cancelWithService<T>(
  { storage }: Pick<JobRunPorts, 'storage'>,
  serviceId: string,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const watch = (end: (reason: unknown) => void) => {
    const look = () => {
      const service = storage.services.get(serviceId)
      const what = !service || service.deleting ? 'removal' : service.suspended ? 'suspension' : null
      if (what) end(new Failure('withdrawn', `canceled by the ${what} of its service`))
    }
    look()
    return storage.changes.subscribe((change) => {
      if (change.kind === 'service' && change.id === serviceId) look()
    })
  }
  return withLinkedSignal(outer, watch, async (signal) => {
    signal.throwIfAborted()
    return work(signal)
  })
}
