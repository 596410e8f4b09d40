// What certificates need of the daemon: the edge that answers challenges, the CA's address, and DNS and
// HTTP queries.
import type { CertificateInput } from '../../../machines/certificate.ts'
import type { Storage } from '../../../storage/index.ts'
import type { Logger } from '../../logger.ts'
import type { DnsChallenges } from './dns-challenge.ts'
import type { Internet } from './internet.ts'

/** A part of the daemon's `Edge`. */
export interface CertificateEdge {
  /** Resolves when every host answers `/.well-known/acme-challenge/<token>` with the given text. */
  putChallenge(token: string, answer: string, signal: AbortSignal): Promise<void>
  dropChallenge(token: string): void
  /** Resolves when the edge serves the certificates in `storage.certificates`. */
  changeCertificates(signal: AbortSignal): Promise<void>
}

export interface CertificateSettings {
  /** null: no CA is used. */
  acmeEmail: string | null
  acmeDirectory: string
}

export interface CertificatePorts {
  storage: Pick<Storage, 'actors' | 'certificates' | 'changes'>
  logger: Logger
  edge: CertificateEdge
  settings: CertificateSettings
  internet: Internet
  /** null without a zone that this server may change. */
  dns: DnsChallenges | null
  /** The hosts of a service, or of the server itself with null. Empty for a removed or private service. */
  routedHosts(serviceId: string | null): string[]
}

export interface ClaimPorts extends Pick<CertificatePorts, 'logger' | 'settings' | 'routedHosts'> {
  storage: Pick<Storage, 'actors' | 'changes' | 'ids' | 'services'>
  actors: {
    spawn(kind: 'certificate', id: string, input: CertificateInput): Promise<unknown>
  }
}
