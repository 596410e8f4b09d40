import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeBuildFailure } from '../../src/docker/build-failure.ts'

test('a command that failed is named with its exit code, in the words of old and new engines', () => {
  const old = 'executor failed running [/bin/sh -c npm run build]: exit code: 1'
  const current = 'process "/bin/sh -c npm run build" did not complete successfully: exit code: 1'

  for (const error of [old, current]) {
    const words = describeBuildFailure(error, { name: '[build 4/6] RUN npm run build', error })
    assert.equal(words, 'RUN npm run build exited with code 1')
  }
})

test('exit codes that have a meaning are explained', () => {
  const explain = (code: number) => describeBuildFailure('', { name: 'RUN x', error: `exit code: ${code}` })

  assert.equal(explain(127), 'RUN x exited with code 127: command not found')
  assert.equal(
    explain(137),
    'RUN x was killed (exit code 137), most likely because the host ran out of memory',
  )
})

test('a step that is long or goes over several lines is one short line', () => {
  const name = `[2/2] RUN one &&\n   two && ${'x'.repeat(200)}`

  const words = describeBuildFailure('', { name, error: 'exit code: 2' })

  assert.match(words, /^RUN one && two && x{100,}… exited with code 2$/)
  assert.equal(words.length, 120 + ' exited with code 2'.length)
})

test('a base image that cannot be had is named as people write it', () => {
  const error = 'failed to do request: Head "https://registry.example/v2/": no such host'
  const step = { name: '[internal] load metadata for docker.io/library/node:20', error }

  const words = describeBuildFailure(error, step)

  assert.equal(words, `the base image node:20 cannot be had: ${error}`)
})

test('the layers an error came through are not told', () => {
  const wrapped =
    'failed to solve with frontend dockerfile.v0: failed to create LLB definition: ' +
    'rpc error: code = Unknown desc = dockerfile parse error line 2: unknown instruction: FORM'
  const missing = 'failed to compute cache key: "/nothing" not found: not found'

  assert.equal(
    describeBuildFailure(wrapped, null),
    'dockerfile parse error line 2: unknown instruction: FORM',
  )
  assert.equal(
    describeBuildFailure(missing, { name: '[2/2] COPY nothing /x', error: missing }),
    'COPY nothing /x: "/nothing" not found',
  )
})
