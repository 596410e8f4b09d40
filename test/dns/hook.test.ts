// The DNS hook: a program of the operator's, without a shell, for a bounded time, and why it failed.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createHook, redact } from '../../src/dns/hook.ts'
import { until } from '../support/daemon/service.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const record = { name: '_acme-challenge.apps.example.com', value: 'a-value; touch /tmp/never' }
const signal = () => new AbortController().signal

function program(t: TestContext, lines: string[]) {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'zone')
  writeFileSync(path, ['#!/bin/sh', `cd ${directory}`, ...lines, ''].join('\n'))
  chmodSync(path, 0o755)
  return { path, file: (name: string) => join(directory, name) }
}

test('the program gets the action, the name with a trailing dot, and the value', async (t) => {
  const { path, file } = program(t, ['for one in "$@"; do echo "$one" >> arguments; done'])
  const hook = createHook(path)

  await hook.present(record, signal())
  await hook.cleanup(record, signal())

  const lines = readFileSync(file('arguments'), 'utf8').trim().split('\n')
  const rest = [`${record.name}.`, record.value]
  deepEqual(lines, ['present', ...rest, 'cleanup', ...rest])
})

test('a failing program is reported by its exit code and the end of its output, on one line', async (t) => {
  const { path } = program(t, ['seq 1 5000', 'echo "the zone\n is locked" >&2', 'exit 7'])

  const error = await createHook(path)
    .present(record, signal())
    .catch((reason: Error) => reason)

  equal((error as { code?: string }).code, 'dns_failed')
  match(String(error), /zone present: it exited with 7: .* 5000 the zone is locked$/)
  equal(String(error).length < 800, true)
})

test('a hanging program is killed with its child processes', async (t) => {
  const { path, file } = program(t, ['sleep 600 & echo $! > child', 'sleep 600'])

  const error = await createHook(path, 300)
    .present(record, signal())
    .catch((reason: Error) => reason)

  match(String(error), /it took too long/)
  const pid = readFileSync(file('child'), 'utf8').trim()
  const isMissing = () => !existsSync(`/proc/${pid}`) || / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  await until('its child to be gone', async () => isMissing())
})

test('background processes that keep the output open are not awaited', async (t) => {
  const { path } = program(t, ['sleep 600 &', 'exit 0'])
  await createHook(path).present(record, signal())
})

test('a missing program is a failure, not a crash', async () => {
  const error = await createHook('/no/such/program')
    .present(record, signal())
    .catch((reason: Error) => reason)
  match(String(error), /ENOENT/)
})

test('secrets of the environment, and anything that looks like one, are not in the reason', () => {
  const env = { DNS_API_TOKEN: 'tok-123456', HOME: '/root-home' }
  const label = redact(
    'sent tok-123456 from /root-home with Authorization: Bearer abcdef123 password=hunter22',
    env,
  )
  doesNotMatch(label, /tok-123456|abcdef123|hunter22/)
  match(label, /\/root-home/)
  equal(redact('+ CF_API_TOKEN=abcdef1234', {}), '+ CF_API_TOKEN=[redacted]')
})
