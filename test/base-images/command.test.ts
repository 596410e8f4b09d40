import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../../src/base-images/command.ts'
import { until } from '../support/daemon/service.ts'
import { findProcesses } from '../support/system/processes.ts'

test('a program that fails is reported with its output', async () => {
  await assert.rejects(run('ls', ['/nowhere']), /^Error: ls \/nowhere failed: .*No such file or directory/)
})

test('an abort ends the program and becomes the error', async () => {
  const seconds = `600.${process.pid}`
  const abort = new AbortController()
  const running = run('sleep', [seconds], { signal: abort.signal })
  await until('it runs', async () => (await findProcesses(`sleep ${seconds}`)).length === 1)
  const reason = new Error('canceled')

  abort.abort(reason)

  await assert.rejects(running, reason)
  await until('it is gone', async () => (await findProcesses(`sleep ${seconds}`)).length === 0)
})
