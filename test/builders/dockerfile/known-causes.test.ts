// Which outputs of a failed build step name a cause.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchCauses } from '../../../src/builders/dockerfile/known-causes.ts'
import { Failure } from '../../../src/errors.ts'

const outputs: [line: string, facts: Record<string, string>][] = [
  [
    'npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.',
    { reason: 'lock_file' },
  ],
  [' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile"', { reason: 'lock_file' }],
  ['error: lockfile had changes, but lockfile is frozen', { reason: 'lock_file' }],
  [
    'error: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided.',
    { reason: 'lock_file' },
  ],
  [
    'error: the lock file /app/Cargo.lock needs to be updated but --locked was passed',
    { reason: 'lock_file' },
  ],
  ['npm error ssh -oStrictHostKeyChecking=accept-new: 1: ssh: not found', { reason: 'ssh_dependency' }],
  ['git@github.com: Permission denied (publickey).', { reason: 'ssh_dependency' }],
  ['npm error code E401', { reason: 'package_refused' }],
  [
    'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
    { reason: 'node_heap' },
  ],
  ["  code: 'ERR_OSSL_EVP_UNSUPPORTED'", { reason: 'node_openssl' }],
  ['Error: DATABASE_URL is not set', { reason: 'variable', variable: 'DATABASE_URL' }],
  ['error: Environment variable not found: DATABASE_URL.', { reason: 'variable', variable: 'DATABASE_URL' }],
  ["KeyError: 'SECRET_KEY'", { reason: 'variable', variable: 'SECRET_KEY' }],
  ['The SECRET_KEY setting must not be empty.', {}],
  ['npm error code ENOENT', {}],
]

function explain(line: string, failedStep: number): Failure {
  const { onLine, explain } = watchCauses(() => {})
  onLine('stderr', `#4 0.521 ${line}`, { number: 4 })
  onLine('system', '#4 ERROR', { number: failedStep, state: 'failed' })
  return explain(new Failure('build_failed', 'RUN x exited with code 1').with({ step: 'RUN x' })) as Failure
}

for (const [line, facts] of outputs) {
  test(`of a failed step, ${facts.reason ?? 'nothing'} is read in: ${line}`, () => {
    assert.deepEqual(explain(line, 4).facts, { step: 'RUN x', ...facts })
  })
}

test('what another step wrote is no cause', () => {
  assert.deepEqual(explain('npm error code E401', 5).facts, { step: 'RUN x' })
})
