// When the state of HAProxy counts as known, with commands that a test answers.
import { equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { DrivenProcess } from '../../src/edge/driven-process.ts'
import type { EdgeFiles } from '../../src/edge/files.ts'
import { noMaps, type Routes } from '../../src/edge/routes.ts'
import { Failure } from '../../src/errors.ts'
import { issueTestCertificate } from '../support/edge/test-certificate.ts'

const files = { map: (name: string) => name, certificate: (host: string) => host } as unknown as EdgeFiles
const routes: Routes = {
  pools: [],
  maps: { ...noMaps(), hosts: new Map([['a.test', 'p1']]) },
  certificates: [],
}

function driven(change: (one: DrivenProcess) => void): DrivenProcess {
  const one = new DrivenProcess(files)
  return Object.assign(one, { admin: { ask: async () => '', change: async () => change(one) } })
}

test('the state is known after a change, and unknown after an invalidation', async () => {
  const one = driven(() => undefined)
  equal(one.isKnown, false)
  await one.change(routes)
  equal(one.isKnown, true)
  one.invalidate()
  equal(one.isKnown, false)
})

test('an invalidation during a change takes effect after it', async () => {
  const one = driven((self) => self.invalidate())
  await one.change(routes)
  equal(one.isKnown, false)
})

test('a change of routes or certificates that fails leaves the state unknown', async () => {
  const state = { isFailing: true }
  const one = driven(() => {
    if (state.isFailing) throw new Failure('edge_unavailable', 'no answer')
  })
  await rejects(one.change(routes), { code: 'edge_unavailable' })
  equal(one.isKnown, false)

  state.isFailing = false
  await one.change(routes)
  state.isFailing = true
  const { keyPem, chainPem } = await issueTestCertificate(['a.test'])
  const certificates = [{ host: 'a.test', pem: `${keyPem}${chainPem}` }]
  await rejects(one.changeCertificates({ ...routes, certificates }), { code: 'edge_unavailable' })
  equal(one.isKnown, false)
})
