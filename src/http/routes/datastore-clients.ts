// The route of a datastore's shell: its own client, in its container.

import { DatastoreParams } from '../../api/datastore.ts'
import { openDatastoreClient } from '../handlers/data/datastore-shell.ts'
import { get, tagged } from '../pipeline/route.ts'

export const datastoreClientRoutes = tagged('Datastores', [
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
