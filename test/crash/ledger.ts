// What the users of the run were promised, and every breach of it. Only acknowledged requests are promises.
import type { Body } from '../support/api.ts'
import type { App } from './app.ts'

export interface ServiceEntry {
  id: string
  name: string
  app: App
  hasDisk: boolean
  /** As the last acknowledged requests left it. */
  wanted: { instances: number; suspended: boolean; env: Map<string, string> }
  /** The deletion was acknowledged. */
  isDeleted: boolean
}

export interface DeployEntry {
  id: string
  service: ServiceEntry
  answer: Body
  kind: DeployRequest['kind']
  askedCommit: string | null
  /** The deploy a rollback was asked to go back to. */
  askedDeploy: string | null
  /** How many versions the app had when it was asked for. */
  versionsThen: number
  /** Its cancel was acknowledged. */
  isCanceled: boolean
}

/** A request that was answered with a deploy: asked again, it must be answered with the same. */
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

export interface Breach {
  rule: string
  text: string
  evidence: string[]
}

export interface Ledger {
  services: ServiceEntry[]
  deploys: Map<string, DeployEntry>
  requests: DeployRequest[]
  figures: Figures
  breaches: Breach[]
  breach(rule: string, text: string, evidence?: string[]): void
}

export function createLedger(): Ledger {
  const breaches: Breach[] = []
  return {
    services: [],
    deploys: new Map(),
    requests: [],
    figures: { acknowledged: 0, refused: 0, retried: 0, duplicates: 0, reconnects: 0 },
    breaches,
    breach: (rule, text, evidence = []) => void breaches.push({ rule, text, evidence }),
  }
}
