// Work for a run that ends with its service: one that is suspended or deleted runs nothing any more.
// Mind: nothing of it stays on the outer signal, or on the change feed.
import { Failure } from '../../errors.ts'
import type { Host } from '../host.ts'

/** The work's signal ends with the outer one, or with `withdrawn` as soon as the service runs nothing. */
export async function whileWanted<T>(
  { storage }: Pick<Host, 'storage'>,
  serviceId: string,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const onAbort = () => controller.abort(outer.reason)
  const look = () => {
    const service = storage.services.get(serviceId)
    const what = !service || service.deleting ? 'removal' : service.suspended ? 'suspension' : null
    if (what) controller.abort(new Failure('withdrawn', `canceled by the ${what} of its service`))
  }
  const unsubscribe = storage.changes.subscribe((change) => {
    if (change.kind === 'service' && change.id === serviceId) look()
  })
  outer.addEventListener('abort', onAbort)
  if (outer.aborted) onAbort()
  else look()
  try {
    controller.signal.throwIfAborted()
    return await work(controller.signal)
  } catch (error) {
    // Whatever an aborted work throws, this is why.
    controller.signal.throwIfAborted()
    throw error
  } finally {
    unsubscribe()
    outer.removeEventListener('abort', onAbort)
  }
}
