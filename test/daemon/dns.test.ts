// The secret of `--acme-dns`: a start without it is refused, with a message that does not contain it.
import { doesNotMatch, equal, match, throws } from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDnsProvider } from '../../src/daemon/dns.ts'
import { parseTsigKey } from '../../src/dns/tsig.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const rfc2136 = { kind: 'rfc2136', host: '127.0.0.1', port: 53 } as const

test('a DNS method that needs a secret is refused without its file, or with an empty one', (t) => {
  const file = join(temporaryDirectory(t), 'secret')
  const open = (kind: typeof rfc2136 | { kind: 'cloudflare' }, path: string) => () =>
    createDnsProvider({ 'acme-dns': kind, 'acme-dns-secret-file': path })
  for (const kind of [rfc2136, { kind: 'cloudflare' } as const]) {
    throws(open(kind, ''), /set --acme-dns-secret-file/)
    throws(open(kind, file), { code: 'secret_unreadable', message: /ENOENT/ })
  }
  writeFileSync(file, '\n')
  throws(open({ kind: 'cloudflare' }, file), /is empty/)
  writeFileSync(file, 'two-words of-a-secret')
  throws(open({ kind: 'cloudflare' }, file), { code: 'invalid_option', message: /is one word$/ })
  writeFileSync(file, 'no-key-but-a-secret')
  throws(open(rfc2136, file), (error: Error) => {
    match(error.message, /contains no HMAC-SHA key/)
    doesNotMatch(error.message, /no-key-but-a-secret/)
    return true
  })
  equal(createDnsProvider({ 'acme-dns': '', 'acme-dns-secret-file': '' }), null)
})

test('a TSIG key is read as tsig-keygen writes it, and on one line', () => {
  const secret = Buffer.from('secret of a zone')
  const encoded = secret.toString('base64')
  const text = `key "Berth.example." {\n  algorithm hmac-sha512;\n  secret "${encoded}";\n};`
  const { name, algorithm } = parseTsigKey(text)
  equal(`${name} ${algorithm}`, 'berth.example hmac-sha512')
  equal(parseTsigKey(`hmac-sha256:berth:${secret.toString('base64')}`).secret.equals(secret), true)
})
