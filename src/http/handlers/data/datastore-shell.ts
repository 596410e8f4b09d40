// Opens shells of datastores. All checks precede the upgrade, because the CLI can read a problem response
// only before it.

import { type CallById, WebSocketUpgrade } from '../../pipeline/route.ts'
import { assertAvailable, findDatastore } from '../../records/datastore-record.ts'
import { openDatastoreShell } from '../../server/datastore-shell.ts'

/**
 * Throws `not_found`, `conflict` if the datastore is not available, and `unavailable` at the limit of shells.
 */
export function openDatastoreClient({ context, params, caller, log, requestId }: CallById) {
  const record = findDatastore(context.storage, params.id)
  assertAvailable(record)
  const client = context.clients.open(record.id)
  const fields = { datastore: record.name, by: caller?.id, request_id: requestId }
  return new WebSocketUpgrade((socket) => {
    log.info(fields, 'datastore shell opened')
    socket.onClose(() => log.info(fields, 'datastore shell closed'))
    const onError = (error: unknown) => log.error({ ...fields, err: error }, 'datastore shell failed')
    openDatastoreShell({ socket, client, requestId, onError })
  })
}
