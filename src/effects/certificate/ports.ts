// What certificates need of the daemon: the edge that answers for them, the CA's address, a way to look at
// the internet.
import type { CertificateInput } from '../../../machines/certificate/certificate.ts'
import type { Storage } from '../../../storage/index.ts'
import type { Logger } from '../../logger.ts'
import type { DnsChallenges } from './dns-challenge.ts'
import type { Internet } from './internet.ts'
import type { WeeklyLimit } from './weekly-limit.ts'

/** Fits the daemon's own `Edge`. */
export interface CertificateEdge {
  /** Resolves when every host answers `/.well-known/acme-challenge/<token>` with it. */
  putChallenge(token: string, answer: string, signal: AbortSignal): Promise<void>
  dropChallenge(token: string): void
  /** Resolves when the edge serves what `storage.certificates` has. */
  changeCertificates(signal: AbortSignal): Promise<void>
}

export interface CertificateSettings {
  /** Null: no CA is used. */
  acmeEmail: string | null
  /** Of the CA. */
  acmeDirectory: string
  /** New certificates a week per registered domain; null without a limit. */
  newPerWeek: number | null
}

export interface CertificatePorts {
  storage: Pick<Storage, 'actors' | 'certificates' | 'changes' | 'issuedCertificates'>
  logger: Logger
  edge: CertificateEdge
  settings: CertificateSettings
  internet: Internet
  weeklyLimit: WeeklyLimit
  /** null without a zone that this server may change. */
  dns: DnsChallenges | null
  /** Of a service, or with null of the server itself; none when it is gone or private. */
  routedHosts(serviceId: string | null): string[]
}

/** In addition, what spawning certificates needs. */
export interface ClaimPorts extends Pick<CertificatePorts, 'logger' | 'settings' | 'routedHosts'> {
  storage: Pick<Storage, 'actors' | 'changes' | 'ids' | 'services'>
  actors: {
    spawn(kind: 'certificate', id: string, input: CertificateInput): Promise<unknown>
  }
}
