// What terminal logins keep in memory: which life of the daemon it is, and who polled last when.
import { doesNotThrow, equal, notEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { createTerminalLogins } from '../../src/account/terminal-logins.ts'

test('each daemon run has its own identity and no tokens to collect', () => {
  const [one, other] = [createTerminalLogins(), createTerminalLogins()]

  notEqual(one.bootId, other.bootId)
  notEqual(one.startCode.current(), other.startCode.current())
  equal(one.uncollected.size, 0)
})

test('polls less than a second apart are refused and do not extend the wait', () => {
  const clock = { ms: 5000 }
  const logins = createTerminalLogins(() => clock.ms)
  const slowDown = { code: 'slow_down', retryAfterSeconds: 2 }

  logins.recordPoll('cli-1')
  for (const ms of [0, 1, 500, 999]) {
    clock.ms = 5000 + ms
    throws(() => logins.recordPoll('cli-1'), slowDown)
  }
  clock.ms = 6000
  logins.recordPoll('cli-1')
  clock.ms = 6999
  throws(() => logins.recordPoll('cli-1'), slowDown)
})

test('polls of one terminal do not slow down another', () => {
  const logins = createTerminalLogins(() => 0)

  logins.recordPoll('cli-1')

  doesNotThrow(() => logins.recordPoll('cli-2'))
})
