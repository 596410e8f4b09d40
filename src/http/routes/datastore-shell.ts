// The shell of a datastore: its own client, in its container. All checks precede the upgrade, because the CLI
// can read a problem response only before it.
import { DatastoreParams } from '../../api/datastore.ts'
import { type CallById, get, tagged, WebSocketUpgrade } from '../pipeline/route.ts'
import { assertAvailable, findDatastore } from '../records/datastore-record.ts'
import { openDatastoreShell } from '../server/datastore-shell.ts'

export const datastoreShellRoutes = tagged('Datastores', [
  get('/datastores/{id}/client', {
    summary:
      'Opens a WebSocket to psql or redis-cli, signed in. Text is JSON: first ' +
      '`{"type":"start","words":[…],"terminal":{"name","cols","rows"}}` (terminal null for pipes), then ' +
      '`resize` with cols and rows, and `eof`. The server sends `taken` (bytes consumed), and last `exit` ' +
      'with a code or `error` as a problem. Binary from the client is input, at most 1 MiB ahead of ' +
      '`taken`; binary from the server is output, after a byte that is 1 for stdout and 2 for stderr',
    params: DatastoreParams,
    response: 'socket',
    problems: ['conflict', 'unavailable'],
    handler: openDatastoreClient,
  }),
])

/**
 * Throws `not_found`, `conflict` if the datastore is not available, and `unavailable` at the limit of shells.
 */
function openDatastoreClient({ context, params, caller, log, requestId }: CallById) {
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
