// Certificates under a real supervisor and a real store, with a CA (ca.ts). Cleans up after the test.
import type { TestContext } from 'node:test'
import type { CertificateRecord } from '../../../machines/certificate.ts'
import type { KindName } from '../../../machines/index.ts'
import { catalogue } from '../../../machines/index.ts'
import { certificateEffects } from '../../../src/effects/certificate/certificate.ts'
import { createCertificateClaims, createRoutedHosts } from '../../../src/effects/certificate/claims.ts'
import { type Internet, openInternet } from '../../../src/effects/certificate/internet.ts'
import {
  type CertificateEdge,
  type CertificatePorts,
  createDnsChallenges,
  type DnsPorts,
} from '../../../src/effects/certificate/order.ts'
import type { Logger } from '../../../src/logger.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { type Ca, serverAddress } from '../edge/ca.ts'
import { serviceRow } from '../storage/store-fixtures.ts'
import { eventually, silentLogger, stopBeforeClose, temporaryStorage } from '../supervisor/supervision.ts'

type Row = CertificateRecord

interface Life {
  storage: Storage
  settings: CertificatePorts['settings']
  dashboardHost: string | null
  logger: Logger
  /** The provider for the wildcard of a public base domain. */
  dns?: DnsPorts
  baseDomain?: string
}

/** What survives a restart. */
export async function openLife(
  t: TestContext,
  ca: Pick<Ca, 'pebble'>,
  changes: Partial<Life> = {},
): Promise<Life> {
  return {
    storage: await temporaryStorage(t),
    settings: { acmeEmail: 'ada@example.com', acmeDirectory: ca.pebble.directoryUrl },
    dashboardHost: null,
    logger: silentLogger,
    ...changes,
  }
}

/** Starts the part of a daemon that manages certificates. */
export function boot(t: TestContext, life: Life, ca: Ca, change: ChangeEdge = () => ({})) {
  const { storage, settings, logger } = life
  const { edge, installed } = standInEdge(life, ca, change)
  const routedHosts = createRoutedHosts(
    storage,
    {
      baseDomain: life.baseDomain ?? 'localhost',
      edge: { mode: 'host', httpPort: 80, httpsPort: 443, dashboardHost: life.dashboardHost },
      hasCertificate: storage.certificates.covers,
    },
    life.dns !== undefined,
  )
  const { certificate } = catalogue
  const supervisor = new Supervisor({ storage, catalogue: { certificate }, logger })
  const internet = internetOf(ca)
  const dns = life.dns ? createDnsChallenges({ storage, logger }, life.dns) : null
  const parts = { storage, settings, logger, edge, internet, routedHosts, dns }
  const effects = certificateEffects(parts)
  supervisor.provide({ certificate: effects })
  stopBeforeClose(t, storage, () => supervisor.stop(1000))
  const spawn = (kind: 'certificate', id: string, input: object) =>
    supervisor.spawn(kind as KindName, id, input)
  const claims = createCertificateClaims({ storage, settings, logger, routedHosts, actors: { spawn } })
  return {
    ...claims,
    ...observe(storage),
    installed,
    release: (input: { id: string; serviceId: string; host: string }) =>
      effects.releaseCertificate(input, new AbortController().signal),
    restore: () => supervisor.restore(),
    startSweep: () => dns?.startSweep(),
    stop: () => supervisor.stop(1000),
    /** Stores a live service with these hosts, or replaces the hosts of an existing one. */
    async route(id: string, ...hosts: string[]) {
      const change = (row: ServiceRow) => ({ ...row, custom_domains: hosts, live_deploy_id: 'dep-1' })
      if (storage.services.get(id)) await storage.services.update(id, change)
      else await storage.services.create(change(serviceRow({ id, name: id })))
      await claims.ensure()
    },
    async retry(host: string) {
      const event = { type: 'retry', at: new Date().toISOString(), by: 'Ada' }
      return (await supervisor.send(observe(storage).rowOf(host)!.id, event)).applied
    },
  }
}

type ChangeEdge = (real: CertificateEdge) => Partial<CertificateEdge>

/** Records which certificates it would serve, at every change. */
function standInEdge({ storage }: Life, ca: Ca, change: ChangeEdge) {
  const installed: string[][] = []
  const real: CertificateEdge = {
    putChallenge: (token, response) => ca.edge.put(token, response),
    dropChallenge: (token) => void ca.edge.answers.delete(token),
    changeCertificates: async () => void installed.push([...storage.certificates.pems().keys()].sort()),
  }
  return { installed, edge: { ...real, ...change(real) } }
}

/** The other server's address is local here too, because there is only one machine. */
function internetOf(ca: Pick<Ca, 'names'>): Internet {
  const real = openInternet({ nameServers: [ca.names.address] })
  return { ...real, ownAddresses: () => ['127.0.0.1', serverAddress] }
}

/** The records as the API would show them. */
function observe(storage: Storage) {
  const rows = () => {
    const ids = ['', ...storage.services.list().map(({ id }) => id)]
    return ids.flatMap((id) => storage.actors.list('certificate', id, 100) as Row[])
  }
  const rowOf = (host: string) => rows().find((row) => row.host === host)
  return {
    rows,
    rowOf,
    until: (host: string, what: string, isIt: (row: Row) => boolean) =>
      eventually(`${host} to be ${what}`, () => {
        const row = rowOf(host)
        return row && isIt(row) ? row : null
      }).catch(({ message }: Error) => {
        throw new Error(`${message}; its record: ${JSON.stringify(rowOf(host))}`)
      }),
  }
}

export const isValid = ({ status, phase }: Row) => status === 'valid' && phase === null
export const isWaiting = ({ phase, error }: Row) => phase === null && error !== null
