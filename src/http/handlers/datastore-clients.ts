// The clients that people open in the containers of datastores.
// Mind: all that can be refused is refused here, before there is a WebSocket: that is what clients can read.
import { converse } from '../client-conversation.ts'
import { findDatastore, refuseIdle } from '../datastore-record.ts'
import { type Call, Conversation } from '../route.ts'
import type { DatastoreParams } from '../schemas/datastore.ts'

/** Throws `not_found`, `conflict` for one that does not serve, `unavailable` when too many are open. */
export function openDatastoreClient({ context, params, caller, log, requestId }: Call<DatastoreParams>) {
  const record = findDatastore(context.storage, params.id)
  refuseIdle(record)
  const client = context.clients.open(record.id)
  const about = { datastore: record.name, by: caller?.id, request_id: requestId }
  return new Conversation((socket) => {
    log.info(about, 'a client of a datastore is opened')
    socket.onClose(() => log.info(about, 'a client of a datastore is closed'))
    const onError = (error: unknown) => log.error({ ...about, err: error }, 'a client of a datastore failed')
    converse({ socket, client, requestId, onError })
  })
}
