// The secret of `--acme-dns`: a start without it is refused, with a message that does not contain it.
import { doesNotMatch, equal, match, throws } from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDnsProvider } from '../../src/daemon/certificates.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

test('Cloudflare is refused without the file of its token, and with an unusable one', (t) => {
  const file = join(temporaryDirectory(t), 'secret')
  const open = (path: string) => () =>
    createDnsProvider({ 'acme-dns': { kind: 'cloudflare' }, 'acme-dns-secret-file': path })
  throws(open(''), /set --acme-dns-secret-file/)
  throws(open(file), { code: 'secret_unreadable', message: /ENOENT/ })
  writeFileSync(file, '\n')
  throws(open(file), /is empty/)
  writeFileSync(file, 'two-words of-a-secret')
  throws(open(file), (error: Error & { code: string }) => {
    equal(error.code, 'invalid_option')
    match(error.message, /is one word$/)
    doesNotMatch(error.message, /of-a-secret/)
    return true
  })
  equal(createDnsProvider({ 'acme-dns': '', 'acme-dns-secret-file': '' }), null)
})
