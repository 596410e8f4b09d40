// A stored actor of every kind in every state in which its chart can wait, with effects that never end.
import type { AnyMachineSnapshot, AnyStateMachine, StateNode, StateValue } from 'xstate'
import { catalogue, type Kind, type KindName } from '../../../machines/index.ts'
import { pathOf } from '../../../src/supervisor/transition.ts'
import type { ActorRecord, Transition } from '../../../storage/actors/actors.ts'
import { forever } from '../machines/machine-run.ts'
import { instant } from '../supervisor/supervision.ts'
import { transitionOf } from './store-fixtures.ts'

const at = instant
const later = '2099-01-01T00:00:00.000Z'
const owned = { serviceId: 'svc-1', at }
const datastore = { datastoreId: 'dst-1', datastoreName: 'shop-db', kind: 'postgres', version: '17' }
const software = { version: '3.2.24', image: null }
const source = { kind: 'git', repo_url: null, branch: null, commit: null, image: null, deploy_id: null }
const validity = { notBefore: at, notAfter: later, directoryUrl: 'https://ca.example.com' }

/** The input of each kind, and context that it gains while it works. */
const known: Record<KindName, { id: string; input: object; context?: object }> = {
  alert: {
    id: 'alr-1',
    input: {
      rule: 'deploy_failed',
      subject: { kind: 'service', id: 'svc-1', name: 'shop' },
      ...owned,
      link: null,
      severity: 'problem',
      title: 'A deploy of shop failed',
      body: 'berth why shop',
      count: 1,
      number: null,
      calmMs: 60_000,
      fades: false,
      flaps: 0,
    },
    context: { clearedAt: at, toldAt: at, messages: 1, acknowledgedAt: at },
  },
  'auto-deploy': {
    id: 'aut-1',
    input: {
      ...owned,
      plan: {
        source: 'https://git.test/shop main',
        pollSeconds: 300,
        obstacle: null,
        waitsForChecks: false,
        needsChecks: false,
      },
    },
    context: {
      found: 'a1',
      waiting: { head: 'a1', since: at, outcome: 'pending' },
      decision: { head: 'a1', at, deployId: 'dep-2', reason: 'the branch has a new head' },
    },
  },
  backup: {
    id: 'bak-1',
    input: { ...datastore, trigger: 'manual', at },
    context: { retryAt: 4e12, sizeBytes: 1, sha256: 'a', finishedAt: at },
  },
  certificate: {
    id: 'crt-1',
    input: { ...owned, host: 'shop.example.com' },
    context: { validity, nextAttemptAt: later },
  },
  'commit-status': {
    id: 'sta-1',
    input: {
      ...owned,
      deployId: 'dep-1',
      connectionId: 'git-1',
      repository: 'ada/shop',
      label: 'berth/shop',
    },
    context: { reported: 'pending', failures: 1, failingSince: at, retryAt: 4e12 },
  },
  'cron-schedule': {
    id: 'sch-1',
    input: { ...owned, plan: { schedule: '0 0 * * *', timezone: 'UTC', isSuspended: false } },
    context: { due: { instant: at, runId: 'job-2', missed: null } },
  },
  datastore: {
    id: 'dst-1',
    input: {
      name: 'shop-db',
      kind: 'postgres',
      version: '17',
      database: 'shop',
      username: 'shop',
      backups: { schedule: null, keep: 7 },
      memoryMb: null,
      cpus: null,
      at,
    },
    context: {
      hasServed: true,
      hostPort: 25_001,
      dueBackupId: 'bak-2',
      retryAt: 4e12,
      backups: { schedule: '0 0 * * *', keep: 7 },
      error: { code: 'docker_error', message: 'an earlier failure' },
    },
  },
  deploy: {
    id: 'dep-1',
    input: {
      ...owned,
      trigger: 'manual',
      source,
      clearCache: false,
      limits: { fetchMs: 1e6, buildMs: 1e6, startMs: 1e6 },
    },
    context: { startedAt: at, image: 'berth/shop:dep-1', port: 8080 },
  },
  'disk-chown': {
    id: 'own-1',
    input: { disk: 'berth-svc-1', ...owned, owner: null },
    context: { finishedAt: at },
  },
  'disk-removal': {
    id: 'dsk-1',
    input: { disk: 'berth-svc-1', serviceId: 'svc-1', serviceName: 'shop', expiresAt: later, at },
  },
  edge: {
    id: 'edge',
    input: { mode: 'host', httpPort: 80, httpsPort: 443, at },
    context: { generation: 1, retryAt: 4e12, software },
  },
  'git-connection': {
    id: 'git-1',
    input: {
      provider: 'gitlab',
      baseUrl: 'https://gitlab.com',
      auth: 'oauth',
      organization: null,
      clientId: 'app',
      account: null,
      at,
    },
    context: {
      renewAt: later,
      account: {
        login: 'ada',
        name: 'Ada',
        scopes: [],
        manageUrl: null,
        repositorySelection: null,
        installationId: null,
        tokenExpiresAt: null,
        tokenHint: null,
        accessExpiresAt: later,
      },
    },
  },
  'job-run': {
    id: 'job-1',
    input: {
      ...owned,
      command: 'true',
      image: 'berth/shop:dep-1',
      trigger: 'manual',
      scheduledFor: null,
      overlap: 'skip',
      timeoutSeconds: 3600,
      stdin: false,
    },
    context: { deployId: 'dep-1', startedAt: at, finishedAt: at },
  },
  notification: {
    id: 'ntf-1',
    input: {
      channelId: 'chn-1',
      channelName: 'ops',
      notice: {
        id: 'alt-1:raised',
        event: 'alert.raised',
        at,
        severity: 'problem',
        code: 'service_memory',
        title: 'shop runs out of memory',
        body: 'berth status shop',
        subject: null,
        count: 1,
        link: null,
      },
      messageId: 'ntf-1',
      maxTries: 8,
      mayRepeat: false,
      at,
    },
    context: { retryAt: 4e12, folded: { ids: ['ntf-2'], problems: 1, warnings: 0, infos: 0, titles: ['a'] } },
  },
  restore: { id: 'rst-1', input: { ...datastore, backupId: null, sizeBytes: 1, at } },
  'server-backup': {
    id: 'sbk-1',
    input: { trigger: 'manual', file: 'berth-20260102T030405Z.backup.age', at },
    context: { sizeBytes: 1, sha256: 'a', keyFingerprint: 'b', finishedAt: at },
  },
  'service-removal': {
    id: 'svc-1',
    input: { ...owned, deleteDisk: true, trash: { id: 'dsk-2', serviceName: 'shop', expiresAt: later } },
  },
  'terminal-login': {
    id: 'cli-1',
    input: {
      bootId: 'boot',
      code: 'ACEF-HJKM',
      name: 'a terminal',
      secretHash: 'x',
      address: '127.0.0.1',
      at,
      expiresAt: later,
    },
    context: { grant: { role: 'admin', services: null, expiresInDays: null } },
  },
}

export const inputOf = (kind: KindName): object => ({ id: known[kind].id, ...known[kind].input })

export interface RestingActor {
  kind: KindName
  id: string
  state: string
  record: ActorRecord
  transition: Transition
}

/** All of them. Actors of one kind share an id unless `idOf` returns different ones. */
export function restingActors(idOf: IdOf = (kind) => known[kind].id): RestingActor[] {
  return actorsIn(restingValues, idOf)
}

/** An actor of every kind in each of its final states. */
export function endedActors(idOf: IdOf): RestingActor[] {
  return actorsIn(finalValues, idOf)
}

function actorsIn(select: (machine: AnyStateMachine) => StateValue[], idOf: IdOf): RestingActor[] {
  const kinds = Object.keys(catalogue) as KindName[]
  return kinds.flatMap((kind) => {
    const { machine } = catalogue[kind] as Kind
    return select(machine).map((value) => restingActor(kind, value, idOf(kind, pathOf(value))))
  })
}

type IdOf = (kind: KindName, state: string) => string

/** Effects that never end, for every slot of every kind. */
export function endlessEffects(): Record<string, object> {
  const waits = (_: object, signal: AbortSignal) => forever(signal)
  return Object.fromEntries(
    Object.entries(catalogue).map(([name, { machine }]) => {
      const slots = Object.keys((machine as AnyStateMachine).implementations.actors)
      return [name, Object.fromEntries(slots.map((slot) => [slot, waits]))]
    }),
  )
}

function restingActor(kind: KindName, value: StateValue, id: string): RestingActor {
  const { machine, version, toRecord } = catalogue[kind] as Kind
  const { input, context = {} } = known[kind]
  const { context: initial } = machine.getInitialSnapshot({} as never, { id, ...input } as never)
  const isMissing = JSON.stringify(value).includes('trash') || JSON.stringify(value).includes('reclaim')
  const trash = {
    deletedAt: at,
    expiresAt: later,
    backupId: null,
    sizeBytes: 1,
    wantedName: 'shop-db',
    trouble: null,
  }
  const whole = {
    ...(initial as object),
    ...context,
    ...(kind === 'datastore' && isMissing ? { trash } : {}),
  }
  const snapshot = machine.resolveState({ value, context: whole }) as AnyMachineSnapshot
  const stored = { ...(machine.getPersistedSnapshot(snapshot) as object), children: childrenOf(snapshot, id) }
  const record = toRecord(snapshot as never) as ActorRecord
  const service_id = typeof record.service_id === 'string' ? record.service_id : null
  const final = snapshot.status === 'done'
  const row = { id, kind, service_id, version, snapshot: JSON.parse(JSON.stringify(stored)), final }
  const state = pathOf(snapshot.value)
  const { entry, ...created } = transitionOf(row)
  const { status } = record
  return { kind, id, state, record, transition: { ...created, record, entry: { ...entry, state, status } } }
}

/** The active effects of a state in stored form. */
function childrenOf(snapshot: AnyMachineSnapshot, id: string): object {
  const nodes = (snapshot as unknown as { _nodes: StateNode[] })._nodes
  const invokes = nodes.flatMap((node) => node.invoke)
  const child = (src: unknown) => ({
    snapshot: { status: 'active', input: { id } },
    src,
    syncSnapshot: false,
  })
  return Object.fromEntries(invokes.map(({ id, src }) => [id, child(src)]))
}

function restingValues(machine: AnyStateMachine): StateValue[] {
  return valuesOf(machine, (node) => node.type === 'atomic' && !node.config.always)
}

function finalValues(machine: AnyStateMachine): StateValue[] {
  return valuesOf(machine, (node) => node.type === 'final')
}

function valuesOf(machine: AnyStateMachine, isWanted: (leaf: StateNode) => boolean): StateValue[] {
  const leaves = (node: StateNode): StateNode[] => {
    const inner = Object.values(node.states) as StateNode[]
    return inner.length > 0 ? inner.flatMap(leaves) : [node]
  }
  return leaves(machine.root as StateNode)
    .filter(isWanted)
    .map(({ path, key }) =>
      path.slice(0, -1).reduceRight<StateValue>((value, name) => ({ [name]: value }), key),
    )
}
