// What was acknowledged to users, and every violation found. Only acknowledged requests are promises.
import type { Body } from '../support/daemon/api.ts'
import type { App } from './app.ts'

export interface ServiceEntry {
  id: string
  name: string
  app: App
  hasDisk: boolean
  /** After the last acknowledged requests. */
  wanted: { instances: number; suspended: boolean; env: Map<string, string> }
  /** Whether the deletion was acknowledged. */
  isDeleted: boolean
}

export interface DeployEntry {
  id: string
  service: ServiceEntry
  answer: Body
  kind: DeployRequest['kind']
  askedCommit: string | null
  /** The target of a rollback. */
  askedDeploy: string | null
  /** The number of the app's versions at the time of the request. */
  versionsThen: number
  /** Whether its cancel was acknowledged. */
  isCanceled: boolean
}

/** A request that returned a deploy. Repeated with its key, it must return the same one. */
export interface DeployRequest {
  path: string
  key: string
  body: unknown
  service: ServiceEntry
  kind: 'create' | 'manual' | 'upload' | 'restart' | 'rollback'
  versionsThen: number
  deployId: string
  answer: Body
}

export interface Figures {
  acknowledged: number
  refused: number
  retried: number
  duplicates: number
  reconnects: number
}

export interface Violation {
  rule: string
  text: string
  evidence: string[]
}

export interface Ledger {
  services: ServiceEntry[]
  deploys: Map<string, DeployEntry>
  requests: DeployRequest[]
  figures: Figures
  violations: Violation[]
  addViolation(rule: string, text: string, evidence?: string[]): void
}

export function createLedger(): Ledger {
  const violations: Violation[] = []
  return {
    services: [],
    deploys: new Map(),
    requests: [],
    figures: { acknowledged: 0, refused: 0, retried: 0, duplicates: 0, reconnects: 0 },
    violations,
    addViolation: (rule, text, evidence = []) => void violations.push({ rule, text, evidence }),
  }
}
