// The setup code: readable only by its owner, stable over restarts, and null if the file is truncated.
import { equal, match, notEqual } from 'node:assert/strict'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSetupCode } from '../../../storage/access/setup-code.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('a server creates a code readable only by its owner, and reuses it', (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'setup_code')
  equal(openSetupCode(directory).read(), null)

  const code = openSetupCode(directory).ensure()

  match(code, /^[A-Za-z0-9_-]{24}$/)
  equal(readFileSync(path, 'utf8'), `${code}\n`)
  equal(statSync(path).mode & 0o7777, 0o600)
  equal(openSetupCode(directory).ensure(), code)
  equal(openSetupCode(directory).read(), code)
})

test('a file readable by others is restricted at the next start', (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'setup_code')
  const code = openSetupCode(directory).ensure()
  chmodSync(path, 0o644)

  equal(openSetupCode(directory).ensure(), code)

  equal(statSync(path).mode & 0o7777, 0o600)
})

test('an incomplete code counts as missing until the next start creates a new one', (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'setup_code')
  const setupCode = openSetupCode(directory)
  const code = setupCode.ensure()

  for (const text of ['', '\n', code.slice(1), `${code}x`, `${code}\n${code}`, `${code.slice(1)} `]) {
    writeFileSync(path, text)
    equal(setupCode.read(), null, JSON.stringify(text))
  }
  const next = setupCode.ensure()
  notEqual(next, code)
  equal(setupCode.read(), next)
})

test('setup removes the code, and a second removal does no harm', (t) => {
  const directory = temporaryDirectory(t)
  const setupCode = openSetupCode(directory)
  setupCode.ensure()

  setupCode.remove()
  setupCode.remove()

  equal(setupCode.read(), null)
  equal(existsSync(join(directory, 'setup_code')), false)
})
