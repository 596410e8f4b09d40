// Stored certificates: readable only by their owner, complete or absent, and found again after a restart.
import { deepEqual, equal, notEqual, throws } from 'node:assert/strict'
import { mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCertificates } from '../../storage/certificates.ts'
import { issueTestCertificate } from '../support/edge/test-certificate.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const dayMs = 24 * 60 * 60_000

async function pemFor(host: string, lastsDays = 90): Promise<string> {
  const notBefore = new Date(Date.now() - dayMs)
  const notAfter = new Date(Date.now() + lastsDays * dayMs)
  const { keyPem, chainPem } = await issueTestCertificate([host], { notBefore, notAfter })
  return `${keyPem}${chainPem}`
}

const account = { directoryUrl: 'https://ca.example.com/dir', email: 'ada@example.com' }

test('a certificate is found by its host, also after a restart', async (t) => {
  const directory = join(temporaryDirectory(t), 'certificates')
  const certificates = openCertificates(directory)
  const pems = new Map([
    ['shop.example.com', await pemFor('shop.example.com')],
    ['blog.example.com', await pemFor('blog.example.com')],
  ])

  for (const [host, pem] of pems) certificates.put(host, pem)

  for (const opened of [certificates, openCertificates(directory)]) {
    deepEqual(
      opened.list().map(({ host, path }) => [host, path]),
      ['blog.example.com', 'shop.example.com'].map((host) => [host, join(directory, `${host}.pem`)]),
    )
    deepEqual(opened.list(), certificates.list())
    deepEqual(new Map([...opened.pems()].sort()), new Map([...pems].sort()))
    deepEqual([opened.isValid('shop.example.com'), opened.isValid('other.example.com')], [true, false])
  }
})

test('all files are readable only by their owner', async (t) => {
  const directory = join(temporaryDirectory(t), 'certificates')
  const certificates = openCertificates(directory)

  certificates.put('shop.example.com', await pemFor('shop.example.com'))
  certificates.saveAccountKey(account, { kty: 'EC' })
  certificates.saveOrder('shop.example.com', { ...account, url: 'https://ca/1', keyPem: 'x', at: 'now' })

  const modes = readdirSync(directory).map((name) => statSync(join(directory, name)).mode & 0o777)
  deepEqual([statSync(directory).mode & 0o777, modes], [0o700, [0o600, 0o600, 0o600]])
})

test('a renewed certificate has another fingerprint; removing it removes its order', async (t) => {
  const directory = join(temporaryDirectory(t), 'certificates')
  const certificates = openCertificates(directory)
  const first = certificates.put('shop.example.com', await pemFor('shop.example.com'))
  certificates.saveOrder('shop.example.com', { ...account, url: 'https://ca/1', keyPem: 'x', at: 'now' })

  const second = certificates.put('shop.example.com', await pemFor('shop.example.com'))
  notEqual(second.fingerprint, first.fingerprint)
  deepEqual(certificates.list(), [second])

  certificates.remove('shop.example.com')
  certificates.remove('shop.example.com')
  deepEqual(
    [certificates.list(), certificates.find('shop.example.com'), readdirSync(directory)],
    [[], null, []],
  )
})

test('an expired certificate is listed but not served', async (t) => {
  const certificates = openCertificates(temporaryDirectory(t))
  const { notAfter } = certificates.put('shop.example.com', await pemFor('shop.example.com', 3))
  const endMs = Date.parse(notAfter)
  const seenAt = (nowMs: number) => [
    certificates.isValid('shop.example.com', nowMs),
    certificates.pems(nowMs).has('shop.example.com'),
    certificates.find('shop.example.com') !== null,
  ]

  deepEqual(
    [seenAt(endMs - 1), seenAt(endMs)],
    [
      [true, true, true],
      [false, false, true],
    ],
  )
})

test('a host that would leave the directory is rejected', async (t) => {
  const directory = temporaryDirectory(t)
  const certificates = openCertificates(join(directory, 'certificates'))
  const pem = await pemFor('shop.example.com')

  for (const host of [
    '../shop',
    'a/b',
    '',
    '.',
    '..',
    'Shop.example.com',
    'a\0b',
    '-x',
    'x\n',
    `${'a'.repeat(254)}`,
  ]) {
    throws(() => certificates.put(host, pem), { code: 'invalid_host' })
  }
  throws(() => certificates.put('shop.example.com', 'no certificate'), { code: 'invalid_certificate' })
  deepEqual(readdirSync(directory), [])
})

test('truncated or foreign files hide no intact certificate', async (t) => {
  const directory = temporaryDirectory(t)
  const first = openCertificates(directory)
  first.put('shop.example.com', await pemFor('shop.example.com'))
  const { path } = first.put('cut.example.com', await pemFor('cut.example.com'))
  truncateSync(path, 300)
  writeFileSync(join(directory, 'notes.pem'), 'a note')
  writeFileSync(join(directory, 'blog.example.com.pem.new'), await pemFor('blog.example.com'))
  writeFileSync(join(directory, 'shop.example.com.order.json'), '{"url":')

  const again = openCertificates(directory)

  deepEqual(
    again.list().map(({ host }) => host),
    ['shop.example.com'],
  )
  equal(again.order('shop.example.com'), null)
})

test('an account key belongs to one CA and one e-mail address', (t) => {
  const directory = join(temporaryDirectory(t), 'certificates')
  mkdirSync(directory, { recursive: true })
  openCertificates(directory).saveAccountKey(account, { kty: 'EC', x: '1' })

  const again = openCertificates(directory)
  deepEqual(again.accountKey(account), { kty: 'EC', x: '1' })
  equal(again.accountKey({ ...account, email: 'eve@example.com' }), null)
  equal(again.accountKey({ ...account, directoryUrl: 'https://staging.example.com/dir' }), null)
})
