// What terminal logins keep in memory: which life of the daemon it is, and who polled last when.
import { equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { createTerminalLogins } from '../../src/account/terminal-logins.ts'

test('each daemon run has its own identity and no tokens to collect', () => {
  const [one, other] = [createTerminalLogins(), createTerminalLogins()]

  notEqual(one.bootId, other.bootId)
  notEqual(one.startCode.current(), other.startCode.current())
  equal(one.uncollected.size, 0)
})
