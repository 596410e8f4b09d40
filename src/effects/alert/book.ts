// Raises, counts and ends alerts. There is at most one open alert for a rule and a subject.
import type { AlertFacts, AlertRecord, AlertSubject } from '../../../machines/alert.ts'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Commit } from '../../../storage/store/store.ts'
import { KeyedMutex } from '../../async/keyed-mutex.ts'
import { alertRule, type RuleCode, ruleSettings } from '../../domain/alert-rules.ts'
import { codeOf } from '../../errors.ts'
import { byServer } from '../by.ts'
import type { SharedPorts } from '../ports.ts'

interface Finding {
  rule: RuleCode
  subject: AlertSubject
  at: string
  /** Of the transition in the feed that shows it; null for what was measured. */
  number: number | null
}

/** The rule is broken. */
export interface Broken extends Finding, Omit<AlertFacts, 'severity'> {
  isBroken: true
  severity?: AlertFacts['severity']
  serviceId: string | null
  link?: string | null
  /** It ends by itself, after this time. */
  fadesAfterMs?: number
  also?: (commit: Commit) => void
}

/** The rule is kept. */
export interface Kept extends Finding {
  isBroken: false
  reason: string | null
  /** Nothing can break it again: its subject is gone. */
  isFinal?: boolean
}

export type Judgement = Broken | Kept

const minuteMs = 60_000
const longestCalmMs = 60 * minuteMs
/** An alert that is raised again this soon after its end needs a longer calm to end. */
const flapWithinMs = 60 * minuteMs

export class AlertBook {
  readonly #ports: SharedPorts
  readonly #mutex = new KeyedMutex()
  readonly #signal: AbortSignal

  constructor(ports: SharedPorts, signal: AbortSignal) {
    this.#ports = ports
    this.#signal = signal
  }

  settings(rule: RuleCode, subject: string) {
    const { alerts } = this.#ports.storage
    return ruleSettings(rule, alerts.rule(rule, subject), alerts.rule(rule, ''))
  }

  /** Findings of one rule about one subject, oldest first. Resolves when all of them are committed. */
  enter(findings: readonly Judgement[]): Promise<void> {
    const [first] = findings
    if (!first) return Promise.resolve()
    const key = `${first.rule} ${first.subject.id}`
    return this.#mutex.run(key, this.#signal, () => this.#enter(findings))
  }

  /** Ends the open alerts of a service or datastore that is gone. */
  async close(serviceId: string, at: string, reason: string): Promise<void> {
    for (const { id } of [...this.#ports.storage.actors.active('alert', serviceId)])
      await this.#ports.actors.send(id, { type: 'clear', at, number: null, reason, isFinal: true })
  }

  async #enter(findings: readonly Judgement[]): Promise<void> {
    const { rule, subject } = findings[0]!
    const known = this.#newest(rule, subject.id)
    // After a crash the newest transitions are read again.
    const fresh = findings.filter(({ number }) => number === null || number > (known?.number ?? 0))
    const last = fresh.at(-1)
    if (!last) return
    const { enabled } = this.settings(rule, subject.id)
    const broken = fresh.filter((finding) => finding.isBroken)
    if (enabled && broken.length > 0) await this.#raise(broken.at(-1)!, broken.length, known)
    const off = { ...last, reason: 'the rule was turned off', isFinal: true }
    if (!enabled) await this.#clear(off)
    else if (!last.isBroken) await this.#clear(last)
  }

  #newest(rule: RuleCode, subject: string): RecordOf<'alert'> | null {
    const { alerts, actors } = this.#ports.storage
    const id = alerts.newest(rule, subject)
    return id === null ? null : actors.record<'alert'>(id)
  }

  async #raise(finding: Broken, count: number, known: AlertRecord | null): Promise<void> {
    const { rule, number, at, title, body, command } = finding
    const { severity = alertRule(rule).severity } = finding
    if (isOpen(known)) {
      // What is measured again is no further event.
      if (number === null && known.cleared_at === null && known.severity === severity) return
      const repeat = { type: 'repeat', at, count, number, severity, title, body, command }
      const { applied } = await this.#ports.actors.send(known.id, repeat)
      if (applied) return finding.also && this.#ports.storage.commit(finding.also)
    }
    await this.#spawn({ ...finding, severity }, count, known)
  }

  async #spawn(finding: Broken & Pick<AlertFacts, 'severity'>, count: number, known: AlertRecord | null) {
    const { storage, actors } = this.#ports
    const { rule, subject, serviceId, number, at, link = null, fadesAfterMs } = finding
    const id = storage.ids.newId('alr')
    const sinceEndMs = known?.recovered_at ? Date.parse(at) - Date.parse(known.recovered_at) : Infinity
    const flaps = sinceEndMs < flapWithinMs ? (known?.flaps ?? 0) + 1 : 0
    const calmMs = fadesAfterMs ?? Math.min(minuteMs * 4 ** flaps, longestCalmMs)
    const { severity, title, body, command } = finding
    const facts = { severity, title, body, command }
    const events = { count, number, calmMs, fades: fadesAfterMs !== undefined, flaps }
    const input = { id, rule, subject, serviceId, link, at, ...facts, ...events }
    const also = (commit: Commit) => {
      storage.alerts.setNewest(commit, rule, subject.id, id)
      finding.also?.(commit)
    }
    const by = byServer(`the rule ${rule}`)
    await actors.spawn('alert', id, input, { by, also }).catch((error: unknown) => {
      // Its service is being deleted.
      if (codeOf(error) !== 'conflict') throw error
    })
  }

  async #clear({ rule, subject, at, number, ...finding }: Omit<Kept, 'isBroken'>): Promise<void> {
    const known = this.#newest(rule, subject.id)
    const { reason, isFinal = false } = finding
    if (!isOpen(known) || (known.cleared_at !== null && !isFinal)) return
    await this.#ports.actors.send(known.id, { type: 'clear', at, number, reason, isFinal })
  }
}

function isOpen(record: AlertRecord | null): record is AlertRecord {
  return record?.status === 'raised' || record?.status === 'acknowledged'
}
