// Measures the host and the services every 30 seconds, and looks through dates every ten minutes. Usage and
// traffic are those that metrics show: no container is asked twice.
import { statfs } from 'node:fs/promises'
import { cpus, freemem, totalmem } from 'node:os'
import type { AlertSubject } from '../../../machines/alert.ts'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { alertRule, type RuleCode } from '../../domain/alert-rules.ts'
import { edgeId } from '../../domain/domains.ts'
import { nextTime } from '../../domain/schedule.ts'
import { listServerBackups } from '../../domain/server-backups.ts'
import { messageOf } from '../../errors.ts'
import type { SharedPorts } from '../ports.ts'
import type { UsageSample } from '../traffic/instance-metrics.ts'
import type { AlertBook, Judgement } from './book.ts'
import { Hysteresis, type Span } from './hysteresis.ts'
import { unreachableReason } from './probe.ts'
import { host, judgeExpiry } from './transitions.ts'

export interface SamplerPorts extends SharedPorts {
  engine: { ping(): Promise<void> }
  serverBackups: { schedule: string | null }
  startedAt: string
  settings: { dataDir: string; defaultMemoryLimitMb: number; defaultCpuLimit: number }
  usage: () => UsageSample | null
  counters: (serviceId: string) => { restarts: number; cpuSeconds: number }
  traffic: (serviceId: string) => { requests: number; errors: number; p95_ms: number | null }
}

interface Measured {
  rule: RuleCode
  subject: AlertSubject
  serviceId: string | null
  value: number
  title: string
  /** Of a rule without a unit. */
  body?: string
  command: string
  span: Span
}

/** Nothing is measured more often. */
const everyMs = 30_000
/** Rounds between two looks through dates. */
const roundsPerLook = 20
const sustained: Span = { of: 10, need: 8 }
/** For what is itself measured over minutes, or changes slowly. */
const twice: Span = { of: 2, need: 2 }
const thrice: Span = { of: 6, need: 6 }
const restartWindowMs = 10 * 60_000
const fewestRequests = 20
const mebibyte = 1024 * 1024
const hourMs = 60 * 60_000

interface ServiceState {
  at: number
  cpuSeconds: number
  restarts: { at: number; count: number }[]
}

export class AlertSampler {
  readonly #ports: SamplerPorts
  readonly #book: AlertBook
  readonly #hysteresis = new Hysteresis()
  readonly #verdicts = new Map<string, string>()
  readonly #services = new Map<string, ServiceState>()
  #cpu: { busy: number; total: number } | null = null
  #rounds = 0
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> = Promise.resolve()

  constructor(ports: SamplerPorts, book: AlertBook) {
    this.#ports = ports
    this.#book = book
  }

  start(): void {
    this.#timer = setInterval(() => this.#begin(), everyMs).unref()
  }

  /** Resolves when the store is no longer used. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#round
  }

  /** One round: the timer calls it, and tests do. */
  async sample(): Promise<void> {
    const measured = [
      ...(await this.#measureHost()),
      await this.#measureEngine(),
      ...this.#measureEdge(),
      ...this.#measureServices(),
    ]
    for (const one of measured) await this.#enter(one)
    // Every second round: a minute. Between two of them, no probe may be forgotten.
    if (this.#rounds % 2 === 0) {
      for (const one of await this.#probe()) await this.#enter(one)
      this.#hysteresis.sweep()
    }
    if (this.#rounds++ % roundsPerLook === 0) await this.look()
  }

  /** Judges what becomes wrong by time alone, and what was wrong before the server knew of alerts. */
  async look(): Promise<void> {
    for (const judgement of this.#dated()) await this.#book.enter([judgement])
  }

  #begin(): void {
    this.#round = this.#round
      .then(() => this.sample())
      .catch((error: unknown) =>
        this.#ports.logger.warn({ reason: messageOf(error) }, 'the values for alerts cannot be read'),
      )
  }

  /** A rule that stays kept is not entered again. */
  async #enter({ rule, subject, value, span, serviceId, ...text }: Measured): Promise<void> {
    const { enabled, threshold } = this.#book.settings(rule, subject.id)
    const key = `${rule} ${subject.id}`
    if (!enabled) return void this.#verdicts.delete(key)
    const limit = threshold ?? 1
    const { margin = 0, unit } = alertRule(rule)
    const sample = value >= limit ? 'bad' : value >= limit - margin ? 'between' : 'good'
    const verdict = this.#hysteresis.add(key, sample, span)
    const isSame = verdict === (this.#verdicts.get(key) ?? null)
    if (verdict === null || (verdict === 'kept' && isSame)) return
    this.#verdicts.set(key, verdict)
    const common = { rule, subject, at: new Date().toISOString(), number: null }
    const shown = unit === null ? '' : `${Math.round(value)}${unit === '%' ? ' %' : ` ${unit}`}`
    if (verdict === 'kept') {
      const reason = shown === '' ? 'it responds' : `it is at ${shown}`
      return this.#book.enter([{ isBroken: false, ...common, reason }])
    }
    const body = shown === '' ? '' : `It is at ${shown}; the limit is ${threshold} ${unit}.`
    const link = serviceId === null ? null : `/services/${encodeURIComponent(subject.name)}`
    await this.#book.enter([{ isBroken: true, ...common, serviceId, body, ...text, link }])
  }

  async #measureHost(): Promise<Measured[]> {
    const { blocks, bfree, bavail, files, ffree } = await statfs(this.#ports.settings.dataDir)
    const busy = this.#cpuPercent()
    const memory = 100 * (1 - freemem() / totalmem())
    const used = blocks - bfree
    const common = { subject: host, serviceId: null, command: 'berth info' }
    const of = (rule: RuleCode, value: number, title: string, span: Span): Measured => {
      return { rule, value, title, span, ...common }
    }
    return [
      ...(busy === null ? [] : [of('host_cpu', busy, 'The processors of the host are busy', sustained)]),
      of('host_memory', memory, 'The memory of the host is almost used up', sustained),
      of('host_disk', (100 * used) / (used + bavail), 'The disk of the host is almost full', twice),
      // Some file systems have no fixed number of inodes.
      ...(files > 0
        ? [of('host_inodes', 100 * (1 - ffree / files), 'The disk is almost out of inodes', twice)]
        : []),
    ]
  }

  /** Since the last round; null in the first. */
  #cpuPercent(): number | null {
    const times = cpus().map(({ times }) => times)
    const total = times.reduce((sum, one) => sum + one.user + one.nice + one.sys + one.idle + one.irq, 0)
    const busy = total - times.reduce((sum, { idle }) => sum + idle, 0)
    const last = this.#cpu
    this.#cpu = { busy, total }
    return last && total > last.total ? (100 * (busy - last.busy)) / (total - last.total) : null
  }

  async #measureEngine(): Promise<Measured> {
    const value = await this.#ports.engine.ping().then(
      () => 0,
      () => 1,
    )
    const title = 'The Docker engine does not respond'
    const rest = { value, title, span: twice, command: 'systemctl status docker' }
    return { rule: 'engine_unreachable', subject: host, serviceId: null, ...rest }
  }

  #measureEdge(): Measured[] {
    const record = this.#ports.storage.actors.record<'edge'>(edgeId)
    if (!record || record.status === 'off') return []
    const value = record.status === 'serving' || record.status === 'upgrading' ? 0 : 1
    const subject = { kind: 'edge', id: edgeId, name: 'the edge' }
    const title = 'The edge does not serve: no service can be reached'
    return [{ rule: 'edge_down', subject, serviceId: null, value, title, span: twice, command: 'berth edge' }]
  }

  #measureServices(): Measured[] {
    const usage = this.#ports.usage()
    const rows = this.#ports.storage.services.list()
    const serving = rows.filter(({ live_deploy_id, suspended, deleting }) => {
      return live_deploy_id !== null && !suspended && !deleting
    })
    const ids = new Set(serving.map(({ id }) => id))
    for (const id of this.#services.keys()) if (!ids.has(id)) this.#services.delete(id)
    return serving.flatMap((row) => this.#measureService(row, usage))
  }

  #measureService(row: ServiceRow, usage: UsageSample | null): Measured[] {
    const { id, name } = row
    const subject = { kind: 'service', id, name }
    const common = { subject, serviceId: id, command: `berth status ${name}` }
    const of = (rule: RuleCode, value: number, title: string, span: Span): Measured => {
      return { rule, value, title, span, ...common }
    }
    const { requests, errors, p95_ms: p95 } = this.#ports.traffic(id)
    const { cpuPercent, restarts } = this.#since(row, usage)
    const { settings } = this.#ports
    const limitBytes = (row.memory_limit_mb ?? settings.defaultMemoryLimitMb) * mebibyte
    const memory = (100 * (usage?.byService.get(id)?.largestBytes ?? 0)) / limitBytes
    const isBusy = requests >= fewestRequests
    return [
      ...(cpuPercent === null
        ? []
        : [of('service_cpu', cpuPercent, `${name} is at its CPU limit`, sustained)]),
      ...(usage === null
        ? []
        : [of('service_memory', memory, `${name} is almost at its memory limit`, sustained)]),
      of('service_errors', isBusy ? (100 * errors) / requests : 0, `Requests to ${name} fail`, twice),
      of('service_latency', isBusy ? (p95 ?? 0) : 0, `${name} responds slowly`, twice),
      of('service_restarts', restarts, `Instances of ${name} end repeatedly`, { of: 1, need: 1 }),
    ]
  }

  /** CPU since the last finished sample, in percent of the limit; restarts in the last ten minutes. */
  #since({ id, cpu_limit }: ServiceRow, usage: UsageSample | null) {
    const { cpuSeconds, restarts: count } = this.#ports.counters(id)
    const now = Date.now()
    const last = this.#services.get(id)
    const recent = (last?.restarts ?? []).filter(({ at }) => at > now - restartWindowMs)
    const restarts = [...recent, { at: now, count }]
    const at = usage?.at ?? 0
    const seconds = (at - (last?.at ?? 0)) / 1000
    const running = usage?.byService.get(id)?.running ?? 0
    const limit = (cpu_limit ?? this.#ports.settings.defaultCpuLimit) * Math.max(1, running)
    const isNew = last !== undefined && last.at > 0 && seconds > 0
    this.#services.set(id, { at, cpuSeconds, restarts })
    const cpuPercent = isNew ? (100 * (cpuSeconds - last.cpuSeconds)) / seconds / limit : null
    return { cpuPercent, restarts: count - restarts[0]!.count }
  }

  async #probe(): Promise<Measured[]> {
    const { services } = this.#ports.storage
    const wanted = services
      .list()
      .flatMap((row) =>
        row.custom_domains.flatMap((domain) =>
          this.#book.settings('domain_unreachable', domain).enabled ? [{ row, domain }] : [],
        ),
      )
    return Promise.all(
      wanted.map(async ({ row: { id }, domain }): Promise<Measured> => {
        const reason = await unreachableReason(domain)
        const subject = { kind: 'domain', id: domain, name: domain }
        const title = `https://${domain} cannot be reached`
        const text = { title, body: reason ?? '', command: 'berth domains' }
        const value = reason === null ? 0 : 1
        return { rule: 'domain_unreachable', subject, serviceId: id, value, span: thrice, ...text }
      }),
    )
  }

  *#dated(): Iterable<Judgement> {
    const { actors, datastores, nameOf } = this.#ports.storage
    const at = new Date().toISOString()
    for (const { id, service_id } of actors.active('certificate')) {
      const record = actors.record<'certificate'>(id)
      if (!record) continue
      const days = this.#book.settings('certificate_expires', record.host).threshold ?? 0
      const found = judgeExpiry(record, { at, number: null, service_id }, days)
      if (found) yield found
    }
    for (const { id } of datastores.list()) {
      const record = actors.record<'datastore'>(id)
      if (record) yield this.#backupOf(record, at)
    }
    for (const { id } of actors.active('auto-deploy')) {
      const unreadable = this.#unreadableSource(actors.record<'auto-deploy'>(id), at)
      if (unreadable) yield unreadable
    }
    const late = this.#lateServerBackup(at)
    if (late) yield late
    for (const { id, kind, service_id, reason } of actors.parked()) {
      if (kind === 'alert' || kind === 'notification') continue
      const name = service_id === null ? id : `${kind} of ${nameOf(service_id) ?? service_id}`
      const subject = { kind: 'actor', id, name }
      const text = { title: `The ${kind} ${id} is parked`, body: reason, command: `berth retry ${id}` }
      const facts = { rule: 'actor_parked' as const, subject, at, number: null, serviceId: service_id }
      yield { isBroken: true, ...facts, ...text }
    }
  }

  /** Its end is a transition. */
  #unreadableSource(record: RecordOf<'auto-deploy'> | null, at: string): Judgement | null {
    if (!record?.error || record.obstacle || record.failing_since === null) return null
    const { service_id: id, failing_since: since, error } = record
    const hours = this.#book.settings('source_unreadable', id).threshold ?? 0
    if (Date.parse(at) < Date.parse(since) + hours * hourMs) return null
    const name = this.#ports.storage.nameOf(id) ?? id
    const subject = { kind: 'service', id, name }
    const text = {
      title: `The source of ${name} cannot be read`,
      body: `Since ${since}.\n${error}`,
      command: `berth show ${name}`,
    }
    const link = `/services/${encodeURIComponent(name)}`
    const common = { rule: 'source_unreadable' as const, subject, at, number: null, serviceId: id }
    return { isBroken: true, ...common, ...text, link }
  }

  /** Only a stored backup ends the alert, because a failed one raises it too. */
  #lateServerBackup(at: string): Judgement | null {
    const { storage, serverBackups, startedAt } = this.#ports
    const newest = listServerBackups(storage).find(({ status }) => status === 'stored')
    if (serverBackups.schedule === null || !newest || storage.hold.get() !== null) return null
    const due = nextTime(serverBackups.schedule, new Date(newest.created_at))
    // What was missed while the daemon was down is made up for after its start.
    const sinceMs = Math.max(due?.getTime() ?? Infinity, Date.parse(startedAt))
    const hours = this.#book.settings('server_backup', host.id).threshold ?? 0
    if (Date.parse(at) < sinceMs + hours * hourMs) return null
    const body = `The newest is of ${newest.created_at}.`
    const text = { title: 'The backup of the server is late', body, command: 'berth server-backups' }
    const common = { rule: 'server_backup' as const, subject: host, at, number: null, serviceId: null }
    return { isBroken: true, ...common, ...text }
  }

  #backupOf(record: RecordOf<'datastore'>, at: string): Judgement {
    const { id, name, backup_schedule: schedule, backups_since: since } = record
    const subject = { kind: 'datastore', id, name }
    const hours = this.#book.settings('backup_late', id).threshold ?? 0
    const due = schedule === null ? null : nextTime(schedule, new Date(since))
    const common = { rule: 'backup_late' as const, subject, at, number: null }
    if (due === null || Date.parse(at) < due.getTime() + hours * hourMs)
      return { isBroken: false, ...common, reason: 'no backup is due' }
    const body = `It was due at ${due.toISOString()}.`
    const text = { title: `A backup of ${name} is late`, body, command: `berth db backups ${name}` }
    return { isBroken: true, ...common, serviceId: id, ...text }
  }
}
