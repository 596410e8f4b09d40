// What a committed transition says about the rules. Pure but for reads: the record may be newer than the
// transition, never older.
import type { AlertSubject } from '../../../machines/alert.ts'
import type { ActivityEntry } from '../../../storage/activity.ts'
import type { ActorRecord, HistoryEntry, RecordOf } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { RuleCode } from '../../domain/alert-rules.ts'
import type { Broken, Judgement, Kept } from './book.ts'

/** Their own alerts could raise each other forever. */
const ownKinds = ['alert', 'notification']

/** Judges the entries that `isRelevant` accepts by their keys. */
export function isRelevant({ kind }: { kind: string }): boolean {
  return !ownKinds.includes(kind)
}

export const host: AlertSubject = { kind: 'host', id: 'host', name: 'the host' }

interface Facts {
  entry: ActivityEntry
  /** The transition of its actor before it. */
  former(): HistoryEntry | undefined
  record: ActorRecord | null
  subject: AlertSubject
}

type Judge = (facts: Facts) => Judgement | null

export function judge(storage: Storage, entry: ActivityEntry): Judgement[] {
  const { event, actor_id: id, kind, service_id: owner, revision } = entry
  if (['parked', 'retried', 'discarded'].includes(event)) return [judgeParked(entry)]
  const found = judges[kind]
  const record = found ? storage.actors.record(id) : null
  const name = owner === null ? id : (storage.nameOf(owner) ?? entry.service_name ?? owner)
  const subject = { kind: owner?.startsWith('dst-') ? 'datastore' : 'service', id: owner ?? id, name }
  const former = () => storage.actors.newestHistory(id, 1, revision)[0]
  return (found ?? []).flatMap((one) => one({ entry, former, record, subject }) ?? [])
}

function judgeParked(entry: ActivityEntry): Judgement {
  const { event, actor_id: id, kind, service_id: serviceId, service_name: name } = entry
  const subject = { kind: 'actor', id, name: name === null ? id : `${kind} of ${name}` }
  if (event !== 'parked') return kept('actor_parked', entry, subject, `it was ${event}`, true)
  const text = { title: `The ${kind} ${id} was parked`, body: 'It does nothing until it is retried.' }
  return { ...broken('actor_parked', entry, subject, { ...text, command: `berth retry ${id}` }), serviceId }
}

/** True once for each failure: further steps, such as its cleanup or a retry, have the same status. */
function becomes(status: string, entry: ActivityEntry, former: Facts['former']): boolean {
  return entry.status === status && former()?.status !== status
}

const judges: Record<string, Judge[]> = {
  deploy: [
    ({ entry, former, record, subject }) => {
      if (entry.status === 'live') return kept('deploy_failed', entry, subject, 'a deploy is live')
      if (!becomes('failed', entry, former)) return null
      const title = `A deploy of ${subject.name} failed`
      const command = `berth why ${entry.actor_id}`
      return broken('deploy_failed', entry, subject, { title, body: errorOf(record), command })
    },
  ],
  'auto-deploy': [
    ({ entry, record, subject }) => {
      const { error, obstacle } = (record ?? {}) as Partial<RecordOf<'auto-deploy'>>
      const isOver = entry.status === 'ended'
      if (error && !obstacle && !isOver) return null
      const reason = obstacle ? 'its automatic deploys are off or paused' : 'its source can be read'
      return kept('source_unreadable', entry, subject, reason, isOver)
    },
  ],
  'job-run': [
    ({ entry, former, record, subject }) => {
      if (record?.trigger !== 'schedule') return null
      if (entry.status === 'succeeded') return kept('job_failed', entry, subject, 'a run succeeded')
      if (!becomes('failed', entry, former)) return null
      const title = `A scheduled run of ${subject.name} failed`
      const command = `berth why ${entry.actor_id}`
      return broken('job_failed', entry, subject, { title, body: errorOf(record), command })
    },
  ],
  'cron-schedule': [
    ({ entry, subject }) => {
      if (entry.status === 'ended') return kept('job_missed', entry, subject, 'it has no schedule', true)
      if (entry.phase?.startsWith('began')) return kept('job_missed', entry, subject, 'a run began')
      if (!entry.phase?.startsWith('skipped')) return null
      const title = `A scheduled run of ${subject.name} was skipped`
      const command = `berth schedule ${subject.name}`
      return broken('job_missed', entry, subject, { title, body: entry.phase, command })
    },
  ],
  datastore: [
    ({ entry, former, record, subject }) => {
      const { status } = entry
      const isGone = status === 'trashed' || status === 'deleted'
      if (status === 'available' || isGone)
        return kept('datastore_failed', entry, subject, `it is ${status}`, isGone)
      if (!becomes('failed', entry, former)) return null
      const title = `The datastore ${subject.name} does not serve`
      const command = `berth db show ${subject.name}`
      return broken('datastore_failed', entry, subject, { title, body: errorOf(record), command })
    },
  ],
  backup: [
    ({ entry, former, record, subject }) => {
      if (entry.status === 'good') return kept('backup_failed', entry, subject, 'a backup is good')
      if (!becomes('failed', entry, former)) return null
      const title = `A backup of ${subject.name} failed`
      const group = subject.kind === 'datastore' ? 'db' : 'disks'
      const command = `berth ${group} backups ${subject.name}`
      return broken('backup_failed', entry, subject, { title, body: errorOf(record), command })
    },
  ],
  'server-backup': [
    ({ entry, former, record }) => {
      if (entry.status === 'stored')
        return kept('server_backup', entry, host, 'a backup of the server is stored')
      if (!becomes('failed', entry, former)) return null
      const text = { title: 'A backup of the server failed', body: errorOf(record) }
      return broken('server_backup', entry, host, { ...text, command: 'berth server-backups' })
    },
  ],
  'git-connection': [
    ({ entry, former, record }) => {
      const { actor_id: id, status } = entry
      const subject = { kind: 'git_connection', id, name: String(record?.account ?? id) }
      if (status === 'connected' || status === 'deleted')
        return kept('git_connection_invalid', entry, subject, `it is ${status}`, status === 'deleted')
      if (!becomes('invalid', entry, former)) return null
      const title = `The git account ${subject.name} no longer accepts this server`
      const command = 'berth git ls'
      return broken('git_connection_invalid', entry, subject, { title, body: errorOf(record), command })
    },
  ],
  certificate: [
    (facts) => facts.record && judgeAttempts(facts.record as RecordOf<'certificate'>, facts),
    ({ entry, record }) => record && judgeExpiry(record as RecordOf<'certificate'>, entry, Infinity),
  ],
}

type When = Pick<ActivityEntry, 'at'> & { number: number | null; service_id: string | null }

const manyAttempts = 3
const hourMs = 60 * 60_000
const dayMs = 24 * hourMs

function judgeAttempts(record: RecordOf<'certificate'>, { entry: when, former }: Facts): Judgement | null {
  const { host, status, attempts, error } = record
  const subject = { kind: 'domain', id: host, name: host }
  if (status === 'released') return kept('certificate_failed', when, subject, 'it is not needed', true)
  if (error === null && attempts === 0)
    return kept('certificate_failed', when, subject, 'the certificate is valid')
  // Each attempt ends in the state that waits for the next one.
  const isEnd = when.state === 'waiting' && former()?.state !== 'waiting'
  if (error === null || attempts < manyAttempts || !isEnd) return null
  const what = record.not_after === null ? 'obtained' : 'renewed'
  const title = `The certificate of ${host} could not be ${what}`
  const text = { title, body: errorOf(record), command: `berth certs ${host}` }
  return broken('certificate_failed', when, subject, text)
}

/** A certificate that is renewed in time never expires soon. `days` may be more than the threshold. */
export function judgeExpiry(
  { host, status, not_after, renews_at, error }: RecordOf<'certificate'>,
  when: When,
  days: number,
): Judgement | null {
  const subject = { kind: 'domain', id: host, name: host }
  if (status === 'released') return kept('certificate_expires', when, subject, 'it is not needed', true)
  if (not_after === null || renews_at === null) return null
  const now = Date.parse(when.at)
  const isOverdue = now > Date.parse(renews_at) + hourMs
  if (!isOverdue) return kept('certificate_expires', when, subject, 'the certificate was renewed')
  const left = Math.floor((Date.parse(not_after) - now) / dayMs)
  if (left >= days || days === Infinity) return null
  const severity = left < 1 ? 'problem' : left < 7 ? 'warning' : 'info'
  const title =
    left < 0 ? `The certificate of ${host} has expired` : `The certificate of ${host} expires soon`
  const body = `It is valid until ${not_after}.\n${error ?? ''}`
  const text = { title, body, command: `berth certs ${host}` }
  return { ...broken('certificate_expires', when, subject, text), severity }
}

type Text = Pick<Broken, 'title' | 'body' | 'command'>

function broken(rule: RuleCode, when: When, subject: AlertSubject, text: Text): Broken {
  const isOwned = subject.kind === 'service'
  const link = isOwned ? `/services/${encodeURIComponent(subject.name)}` : null
  const { at, number, service_id: serviceId } = when
  return { isBroken: true, rule, at, number, subject, serviceId, ...text, link }
}

function kept(
  rule: RuleCode,
  { at, number }: When,
  subject: AlertSubject,
  reason: string,
  isFinal = false,
): Kept {
  return { isBroken: false, rule, at, number, subject, reason, isFinal }
}

function errorOf(record: object | null): string {
  const { error } = (record ?? {}) as { error?: unknown }
  return typeof error === 'string' ? error : ''
}
