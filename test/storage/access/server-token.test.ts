// The server token: created once, readable only by its owner, and never replaced by an invalid one.
import { equal, match, throws } from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openServerToken } from '../../../storage/access/server-token.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('a new directory gets a token readable only by its owner, and reuses it', (t) => {
  const directory = temporaryDirectory(t)

  const token = openServerToken(directory)

  match(token, /^bth_[A-Za-z0-9_-]{43}$/)
  equal(statSync(join(directory, 'api_token')).mode & 0o7777, 0o600)
  equal(openServerToken(directory), token)
  equal(readFileSync(join(directory, 'api_token'), 'utf8'), `${token}\n`)
})

test('a file with no token or several tokens is refused and left unchanged', (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'api_token')
  const token = openServerToken(directory)
  const message = `${path} contains no token; remove the file and restart to create a new one`

  for (const text of ['', 'bth_', token.slice(0, -1), `${token}x`, `x${token}`, `${token}\n${token}`]) {
    writeFileSync(path, text)
    throws(() => openServerToken(directory), { code: 'server_token_damaged', message })
    equal(readFileSync(path, 'utf8'), text)
  }
})
