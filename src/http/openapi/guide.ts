// The general description in the OpenAPI document.
import type { Json } from './schema.ts'

/** Stands for the port in the name of the cookie; no other text of the document has it. */
export const anyPort = '<port>'

export const guide = `The HTTP API of a Berth server. It deploys services from Git repositories, images
and uploads, and runs managed datastores. The command \`berth\` and the pages of the
server use nothing else.

## Conventions

Ids are texts such as \`dep-01j…\` and sort by age. Times are UTC with milliseconds (RFC 3339). A
resource has all of its keys, and what is absent is null. In a request null means the same as leaving a
key out. Unknown keys, and query parameters that a route does not list, are refused. \`{id}\` of a
service or a datastore takes its name too. A flag in a query is true for \`1 true yes y on\` and for the
bare key, and false for \`0 false no n off\`.

An address has at most 2,048 characters, and a JSON body at most 1 MiB (4 MiB where env variables are
sent).

## Versions

Within \`/api/v1\` changes are additions: clients must ignore keys, codes and events that they do not
know. Every answer names the version of the server in \`Berth-Version\`.

## Authentication

Programs send \`Authorization: Bearer <token>\`. Where no header can be set, GET takes the token as the
query parameter \`access_token\`; other methods do not. Browsers send the cookie of their session. A
wrong token is 401, also with a valid cookie. \`x-required-role\` of an operation is the least role of
a token.

A request of a browser that changes something must come from a page of this server: \`Sec-Fetch-Site\`
must be \`same-origin\` or, where a browser does not send it, \`Origin\` must be the origin of the
server. Else it is 403. The \`Host\` of every request must be one of this server, else it is 400. There
is no CORS: pages of other origins cannot use the API.

## Errors

Every failure is a \`Problem\`. Programs decide by its \`code\`. 429 and 503 have \`Retry-After\`. A
method that a path does not have is 405 with \`Allow\`; GET of what is no stream and no file answers
HEAD too.

## Repetition

A POST may have an \`Idempotency-Key\`. For a day a repetition of the same request gets the first
answer, with \`Idempotency-Replayed: true\`, and nothing happens twice. Keys belong to the credential.

## Lists

Lists are arrays. Where a list takes \`before\`, it is a page of a longer one, newest first: the header
\`Link\` has the address of the next page, with \`rel="next"\`, without \`access_token\`.

## Event streams

\`text/event-stream\` is a stream of server-sent events. \`id\` counts from 1, and \`Last-Event-ID\`
resumes without a gap. A log sends \`log\` with a line as JSON, then \`end\` with empty data once
nothing more comes. A comment is sent every 15 seconds. \`contentSchema\` describes the events.

\`GET /events\` is the change feed. Each \`change\` names a record and its status, never its content.
Where a record has a \`revision\`, a client whose copy has the same one or a higher one is up to date.
What ends with time alone, such as an expired session, is in no change until the server removes it.

## WebSockets

\`x-websockets\` holds the routes that speak WebSocket. It has the form of \`paths\`, and is apart from
it because no HTTP client can call these routes. A browser must come from a page of this server, as for
a change.
`

export const securitySchemes: Json = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API token. For GET, `access_token` in the query is accepted too. A token has the role `read`, ' +
      '`deploy` or `admin`, and may be limited to services and what belongs to them.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: `svc_session_${anyPort}`,
    description:
      'A browser session, from POST /auth/setup or /auth/login. The number is the port of the ' +
      'address that the browser uses: 7878 by default, 443 behind https. This document has the right one.',
  },
}

export const tagMeanings: Readonly<Record<string, string>> = {
  Server: 'Health, metrics, this document, the host, and the change feed.',
  Account: 'The administrator, the sessions of browsers, and API tokens.',
  'Terminal login': 'How a terminal gets a token: it sends a request, the administrator decides, it polls.',
  Services: 'What should run, and its current state.',
  Domains: 'The hosts of services.',
  Certificates: 'The certificates of hosts.',
  Actors: 'The actors behind the records; parked ones wait for an administrator after an internal error.',
  Edge: 'The reverse proxy in front of public services.',
  Env: 'The env variables of services.',
  Deploys: 'Deploys of services, and their logs.',
  Jobs: 'Job runs, and the schedules of cron jobs.',
  Datastores: 'Managed Postgres and Redis.',
  Backups: 'Backups of datastores, and restores.',
  Registries: 'Credentials for image registries.',
  Disks: 'The disks of services, which outlive them.',
  Trash: 'Deleted datastores and disks that can be restored.',
}
