// The route of a datastore's shell: its own client, in its container.

import { DatastoreParams } from '../../api/datastore.ts'
import { openDatastoreClient } from '../handlers/datastore-shell.ts'
import { route, tagged, v1 } from '../pipeline/route.ts'

export const datastoreClientRoutes = tagged('Datastores', [
  route({
    method: 'GET',
    path: `${v1}/datastores/{id}/client`,
    summary:
      'A WebSocket to psql or redis-cli, signed in. Text is JSON: first `{"type":"start","words":[…],' +
      '"terminal":{"name","cols","rows"}}` (terminal null for pipes), then `resize` with cols and rows, ' +
      'and `eof`; back come `taken` with bytes, and at the end `exit` with code, or `error` as a problem. ' +
      'Binary is its input, of which 1 MiB may be on its way until it is `taken`, and its output, behind ' +
      'a byte that is 1 for stdout and 2 for stderr',
    params: DatastoreParams,
    answer: 'socket',
    problems: ['conflict', 'unavailable'],
    handler: openDatastoreClient,
  }),
])
