// The general description in the OpenAPI document.

/** A placeholder for the port in the cookie's name; it occurs nowhere else in the document. */
export const anyPort = '<port>'

export const guide = `The HTTP API of a Berth server. It deploys services from Git repositories, images
and uploads, and runs managed datastores. The \`berth\` command and the
pages of the server use only this API.

## Conventions

Ids are strings such as \`dep-01j…\` and sort by creation time. Timestamps are RFC 3339 in UTC, with
milliseconds. A response contains every key of a resource; absent values are null. In a request, null
has the same effect as omitting the key. Unknown keys, and query parameters that a route does not list,
are rejected. For services and datastores, \`{id}\` also accepts the name. A boolean query parameter is
true for \`1 true yes y on\` and without a value, and false for \`0 false no n off\`.

A URL has at most 2,048 characters, and a JSON body at most 1 MiB (4 MiB where env variables are sent).

## Versions

Within \`/api/v1\`, changes only add: clients must ignore keys, codes and events that they do not know.
Every response names the version of the server in \`Berth-Version\`.

## Authentication

Programs send \`Authorization: Bearer <token>\`. Where no header can be set, GET accepts the token in
the query parameter \`access_token\`; other methods do not. Browsers send their session cookie. A wrong
token is 401, even with a valid cookie. \`x-required-role\` of an operation is the minimum role of a
token.

A browser request that changes something must come from a page of this server: \`Sec-Fetch-Site\` must
be \`same-origin\` or, where the browser does not send it, \`Origin\` must be the origin of the server.
Otherwise the response is 403. A read with the session cookie is refused when either header names another
site. The \`Host\` of every request must be one of this server's, otherwise the
response is 400. There is no CORS: pages of other origins cannot use the API.

## Errors

Every error response is a \`Problem\`. Programs decide by its \`code\`. 429 and 503 have
\`Retry-After\`. A method that a path does not support is 405 with \`Allow\`. Every GET route also
responds to HEAD, except streams and file downloads.

## Idempotency

A POST may have an \`Idempotency-Key\`. For a day, repeating the same request returns the first
response, with \`Idempotency-Replayed: true\`, and nothing happens twice. Keys belong to the credential.

## Lists

Lists are arrays. A list that accepts \`before\` is paginated, newest first: the header \`Link\` has the
address of the next page, with \`rel="next"\` and without \`access_token\`.

## Event streams

\`text/event-stream\` is a stream of server-sent events. \`id\` counts from 1, and \`Last-Event-ID\`
resumes without a gap. A log stream sends each line as a \`log\` event in JSON, and \`end\` with empty
data when the log is complete. A comment is sent every 15 seconds. \`contentSchema\` describes the
events.

\`GET /events\` is the change feed. Each \`change\` names a record and its status, never its content.
If a record has a \`revision\`, a client whose copy has the same or a higher one is up to date. Records
that expire, such as sessions, appear in the feed when the server removes them.

## WebSockets

\`x-websockets\` lists the WebSocket routes. It has the form of \`paths\`, and is separate because no
HTTP client can call these routes. A browser must connect from a page of this server, as for a change.
`

export const securitySchemes: Record<string, unknown> = {
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
  Git: 'Accounts at GitHub, GitLab, Gitea and Forgejo, through which repositories are listed and cloned.',
  Registries: 'Credentials for image registries.',
  Disks: 'The disks of services, which outlive them.',
  Trash: 'Deleted datastores and disks that can be restored.',
}
