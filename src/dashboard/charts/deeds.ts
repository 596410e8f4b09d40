// What a person can do about an event that an actor accepts: a request to the API, or a command where a click
// would do too much.

import type { Actor } from '../../api/actor.ts'
import { send } from '../api/client.ts'
import { shortId } from '../look/short-id.ts'

export type Deed =
  | {
      kind: 'request'
      label: string
      run: ReturnType<typeof send<unknown>>
      accepted: string
      /** What is lost: asked first. */
      question?: string
    }
  | { kind: 'command'; berth: string }
  | { kind: 'page'; label: string; href: string }

type Target = Pick<Actor, 'id' | 'service_name'>

/** Null for what only the server sends. */
export function deedFor(kind: string, event: string, target: Target): Deed | null {
  return deeds[`${kind} ${event}`]?.(target) ?? null
}

const cancel =
  (label: string, folder: string) =>
  ({ id }: Target): Deed => ({
    kind: 'request',
    label,
    run: send('POST', `/${folder}/${id}/cancel`),
    accepted: 'Cancel requested',
  })

/** The name of its owner; the id works as well. */
const command =
  (words: string) =>
  ({ id, service_name: name }: Target): Deed => ({ kind: 'command', berth: `berth ${words} ${name ?? id}` })

const deeds: Record<string, (target: Target) => Deed> = {
  'deploy cancel': cancel('Cancel deploy', 'deploys'),
  'job-run cancel': cancel('Cancel run', 'jobs'),
  'restore cancel': cancel('Cancel restore', 'restores'),
  'certificate retry': ({ id }) => ({
    kind: 'request',
    label: 'Try again now',
    run: send('POST', `/certificates/${id}/retry`),
    accepted: 'Requested',
  }),
  'backup delete': ({ id }) => ({
    kind: 'request',
    label: 'Delete backup',
    run: send('DELETE', `/backups/${id}`),
    accepted: 'Deleting',
    question: `The file of backup ${shortId(id)} is removed. It cannot be restored after that.`,
  }),
  'datastore restart': command('db restart'),
  'datastore delete': command('db rm'),
  'datastore upgrade': ({ id, service_name: name }) => ({
    kind: 'command',
    berth: `berth db upgrade ${name ?? id} --to VERSION`,
  }),
  'datastore upgrade.cancel': ({ id, service_name: name }) => ({
    kind: 'command',
    berth: `berth db upgrade ${name ?? id} --cancel`,
  }),
  'datastore reclaim': ({ id }) => ({ kind: 'command', berth: `berth trash restore ${id}` }),
  'disk-removal restore': ({ id }) => ({ kind: 'command', berth: `berth trash restore ${id}` }),
  'disk-removal purge': ({ id }) => ({ kind: 'command', berth: `berth trash purge ${id}` }),
  'edge upgrade': () => ({ kind: 'command', berth: 'berth edge upgrade' }),
  'git-connection delete': ({ id }) => ({ kind: 'command', berth: `berth git rm ${id}` }),
  'terminal-login approve': ({ id }) => ({
    kind: 'page',
    label: 'Approve or deny…',
    href: `/cli-login?id=${encodeURIComponent(id)}`,
  }),
  'terminal-login deny': ({ id }) => ({
    kind: 'request',
    label: 'Deny',
    run: send('POST', `/auth/cli/${id}/deny`),
    accepted: 'Denied',
  }),
}
