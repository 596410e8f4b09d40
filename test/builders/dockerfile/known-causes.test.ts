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
  ['npm error code ERESOLVE', { reason: 'peer_conflict' }],
  ['npm error code ETARGET', { reason: 'version_missing' }],
  ['ERROR: No matching distribution found for djang0==9', { reason: 'version_missing' }],
  [
    'You are using Node.js 18.20.8. For Next.js, Node.js version ">=20.9.0" is required.',
    { reason: 'node_version' },
  ],
  ['[ERR_PNPM_IGNORED_BUILDS] Ignored build scripts: esbuild@0.25.0', { reason: 'ignored_builds' }],
]

/** What the tool says is quoted, with noise before and after it. */
const quoted: [says: string, output: string[]][] = [
  [
    'npm error ERESOLVE unable to resolve dependency tree',
    [
      'npm warn deprecated a@1: use b',
      'npm error code ERESOLVE',
      'npm error ERESOLVE unable to resolve dependency tree',
      'npm error Found: react@19.1.0',
      'npm notice New major version of npm available!',
    ],
  ],
  [
    'npm error notarget No matching version found for is-odd@99.',
    ['npm error code ETARGET', 'npm error notarget No matching version found for is-odd@99.'],
  ],
  [
    'You are using Node.js 18.20.8. For Next.js, Node.js version ">=20.9.0" is required.',
    ['> next build', 'You are using Node.js 18.20.8. For Next.js, Node.js version ">=20.9.0" is required.'],
  ],
  [
    'ERR_PNPM_NO_MATCHING_VERSION  No matching version found for is-odd@99',
    ['\u001b[31m ERR_PNPM_NO_MATCHING_VERSION \u001b[39m No matching version found for is-odd@99'],
  ],
  [
    'ERROR: No matching distribution found for djang0==9',
    [
      'ERROR: Could not find a version that satisfies the requirement djang0==9 (from versions: none)',
      'ERROR: No matching distribution found for djang0==9',
    ],
  ],
  ['src/a.ts(1,7): error TS2322: no', ['> tsc', 'src/a.ts(1,7): error TS2322: no', 'npm error code 2']],
  ['./main.go:5:2: undefined: x', ['# app', './main.go:5:2: undefined: x']],
  ['Error: Cannot find module x', ['node:internal', 'Error: Cannot find module x', '    at a.js:1:1']],
]

function explain(output: string | string[], failedStep: number): Failure {
  const { onLine, explain } = watchCauses(() => {})
  for (const line of [output].flat()) onLine('stderr', `#4 0.521 ${line}`, { number: 4 })
  onLine('system', '#4 ERROR', { number: failedStep, state: 'failed' })
  return explain(new Failure('build_failed', 'RUN x exited with code 1').with({ step: 'RUN x' })) as Failure
}

for (const [line, facts] of outputs) {
  test(`of a failed step, ${facts.reason ?? 'nothing'} is read in: ${line}`, () => {
    assert.deepEqual(explain(line, 4).facts, { step: 'RUN x', ...facts })
  })
}

for (const [says, output] of quoted) {
  test(`the error quotes its tool: ${says}`, () => {
    assert.equal(explain(output, 4).message, `RUN x exited with code 1: ${says}`)
  })
}

test('what another step wrote is no cause', () => {
  const { message, facts } = explain('npm error code E401', 5)
  assert.deepEqual([message, facts], ['RUN x exited with code 1', { step: 'RUN x' }])
})

test('a long line is cut, and output without an error adds nothing', () => {
  assert.equal(
    explain(`Error: ${'x'.repeat(9_000)}`, 4).message.length,
    'RUN x exited with code 1: '.length + 200,
  )
  assert.equal(explain(['added 5 packages', 'done'], 4).message, 'RUN x exited with code 1')
})
