// What terminal logins keep in memory: which life of the daemon it is, and who polled last when.
import { deepEqual, doesNotThrow, equal, notEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { createTerminalLogins } from '../../src/account/terminal-logins.ts'

test('each life of the daemon has a name of its own and nothing to collect', () => {
  const [one, other] = [createTerminalLogins(), createTerminalLogins()]

  notEqual(one.bootId, other.bootId)
  deepEqual([one.uncollected.size, one.starting.size], [0, 0])
})

test('polls less than a second apart are too many, and do not make the wait longer', () => {
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

test('one terminal does not slow another down', () => {
  const logins = createTerminalLogins(() => 0)

  logins.recordPoll('cli-1')

  doesNotThrow(() => logins.recordPoll('cli-2'))
})

test('however many poll, the newest polls are remembered and the memory is bounded', () => {
  const logins = createTerminalLogins(() => 0)
  for (let count = 0; count < 5000; count++) logins.recordPoll(`cli-${count}`)

  throws(() => logins.recordPoll('cli-4999'), { code: 'slow_down' })
  throws(() => logins.recordPoll('cli-4500'), { code: 'slow_down' })
  equal(
    doesNotThrow(() => logins.recordPoll('cli-0')),
    undefined,
  )
})
