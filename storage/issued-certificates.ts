// Recently issued certificates per authority, and the pauses that authorities requested, in one file.
// Authorities limit new certificates per registered domain, so the count must survive restarts and crashes.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { createPrivateFile } from './store/private-file.ts'

export interface IssuedCertificate {
  directoryUrl: string
  /** The URL of the order, or another unique text. */
  order: string
  host: string
  /** The registered domain that the authority counts the certificate for. */
  domain: string
  /** RFC 3339. */
  at: string
}

/** The authority accepts no new order for the domain before `until`. */
export interface IssuancePause {
  directoryUrl: string
  domain: string
  until: string
  reason: string
}

interface Ledger {
  issued: IssuedCertificate[]
  pauses: IssuancePause[]
}

export type IssuedCertificates = ReturnType<typeof openIssuedCertificates>

/** Twice the week over which authorities count: an earlier burst still affects the limit. */
const retentionMs = 14 * 24 * 60 * 60_000

export function openIssuedCertificates(directory: string) {
  const path = join(directory, 'issued.json')
  let known: Ledger | null = null
  const all = (): Ledger => {
    known ??= read(path) ?? { issued: [], pauses: [] }
    return known
  }
  const save = (next: Ledger) => {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
    createPrivateFile(path, `${JSON.stringify(next)}\n`)
    known = next
  }
  return {
    /** False before the first record: earlier certificates are then unknown. */
    hasRecords: () => fs.existsSync(path),

    issued: (directoryUrl: string) =>
      all().issued.filter((certificate) => certificate.directoryUrl === directoryUrl),

    /** A certificate whose order is already recorded is not counted twice. */
    record(added: IssuedCertificate[], nowMs = Date.now()): void {
      const { issued, pauses } = all()
      const orders = new Set(issued.map(({ order }) => order))
      const young = issued.filter(({ at }) => Date.parse(at) > nowMs - retentionMs)
      save({ issued: [...young, ...added.filter(({ order }) => !orders.has(order))], pauses })
    },

    pauses: (directoryUrl: string, nowMs = Date.now()) =>
      all().pauses.filter((one) => one.directoryUrl === directoryUrl && Date.parse(one.until) > nowMs),

    /** Replaces the pause of the same domain. */
    pause(added: IssuancePause, nowMs = Date.now()): void {
      const { issued, pauses } = all()
      const isSame = (one: IssuancePause) =>
        one.directoryUrl === added.directoryUrl && one.domain === added.domain
      const others = pauses.filter((one) => !isSame(one) && Date.parse(one.until) > nowMs)
      save({ issued, pauses: [...others, added] })
    },
  }
}

/** A damaged file counts as missing: the authority still enforces its own limits. */
function read(path: string): Ledger | null {
  try {
    const { issued, pauses } = JSON.parse(fs.readFileSync(path, 'utf8')) as Partial<Ledger>
    return Array.isArray(issued) && Array.isArray(pauses) ? { issued, pauses } : null
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (isMissing || error instanceof SyntaxError) return null
    throw error
  }
}
