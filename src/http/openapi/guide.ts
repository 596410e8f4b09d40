// The general description in the OpenAPI document.

/** A placeholder for the port in the cookie's name; it occurs nowhere else in the document. */
export const anyPort = '<port>'

export const guide =
  'The HTTP API of a Berth server. It deploys services from Git repositories, images and uploads, and runs ' +
  'managed datastores. The `berth` command and the pages of the server use only this API. The conventions ' +
  'of credentials, errors, repetitions, lists and streams: /docs/api-conventions on this server.'

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
  Alerts: 'What is wrong, from when on it is, and the rules that say so.',
  Notifications: 'Where messages to people go, and what became of each.',
  Actors: 'The actors behind the records; parked ones wait for an administrator after an internal error.',
  Audit: 'Who changed what.',
  Charts: 'The statecharts of the actors.',
  Edge: 'The reverse proxy in front of public services.',
  Env: 'The env variables of services.',
  Deploys: 'Deploys of services, and their logs.',
  Jobs: 'Job runs, and the schedules of cron jobs.',
  Datastores: 'Managed Postgres and Redis.',
  'Backup places': 'Where backups are kept: the folder of the server, and S3-compatible buckets.',
  Backups: 'Backups of datastores, and restores.',
  'Deploy keys': 'The ssh keys with which services read their repositories.',
  Hooks: 'Webhooks of git providers, and deploy hooks of services.',
  Git: 'Accounts at GitHub, GitLab, Gitea and Forgejo, through which repositories are listed and cloned.',
  Registries: 'Credentials for image registries.',
  Disks: 'The disks of services, which outlive them.',
  Trash: 'Deleted datastores and disks that can be restored.',
}
