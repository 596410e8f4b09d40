// Inputs and effects for tests of the certificate chart: all succeed, or each fails in its own way.
import {
  type CertificateInput,
  type CertificateProblem,
  type CertificateSnapshot,
  machine,
  toRecord,
} from '../../../machines/certificate.ts'
import { instant } from './deploy-chart.ts'
import { forever, type Run, runMachine, type TestEffect } from './machine-run.ts'

export const hourMs = 60 * 60_000
export const input: CertificateInput = {
  id: 'crt-1',
  serviceId: 'svc-1',
  host: 'shop.example.com',
  at: instant,
}
export const who = { id: 'crt-1', serviceId: 'svc-1', host: 'shop.example.com' }
export const validity = {
  notBefore: instant,
  notAfter: '2026-04-01T00:00:00.000Z',
  directoryUrl: 'https://ca.example.com/directory',
}
export const renewsAt = '2026-03-02T00:00:00.000Z'

export const waits: TestEffect = (_, signal) => forever(signal)
export const resolvesHere: TestEffect = async () => ({ at: instant, isRouted: true, trouble: null })
export const issues: TestEffect = async () => ({ at: instant, validity, trouble: null })
export const news = (news: string, warnedDays: number | null = null, at = instant) => ({
  at,
  news,
  warnedDays,
})
export const done: TestEffect = async () => ({ at: instant })

export function trouble(code: string, retryAt: string | null = null): CertificateProblem {
  return { code, message: `it is ${code}`, hint: 'do something', retryAt }
}
export const troubled =
  (code: string, at = instant, retryAt: string | null = null): TestEffect =>
  async () => ({ at, isRouted: true, validity: null, trouble: trouble(code, retryAt) })

/** Every effect succeeds, and the watch never ends. */
export const happy: Record<string, TestEffect> = {
  checkHost: resolvesHere,
  obtainCertificate: issues,
  installCertificate: done,
  keepWatch: waits,
  releaseCertificate: done,
}

/** Returns these results in order, then waits. */
export function inTurn(...responses: (object | TestEffect)[]): TestEffect {
  return (effectInput, signal) => {
    const next = responses.shift()
    if (next === undefined) return forever(signal)
    return typeof next === 'function' ? next(effectInput, signal) : Promise.resolve(next)
  }
}

export const start = (changes: Record<string, TestEffect> = {}) =>
  runMachine(machine, { ...happy, ...changes }, { input })
export const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as CertificateSnapshot)
export const eventLoopTurns = async (count = 20) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}
export const retry = ({ actor }: Run, at = instant) => actor.send({ type: 'retry', at, by: 'Ada' })
