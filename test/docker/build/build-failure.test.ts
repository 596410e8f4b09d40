import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildFailureFacts, describeBuildFailure } from '../../../src/docker/build/build-failure.ts'
import type { ReachedLimits } from '../../../src/docker/build/build-guard.ts'

const noLimits: ReachedLimits = {
  limits: { memoryMb: null, cpus: null, pids: null },
  memory: null,
  pids: false,
}

test('a failed command is named with its exit code, for messages of old and new engines', () => {
  const old = 'executor failed running [/bin/sh -c npm run build]: exit code: 1'
  const current = 'process "/bin/sh -c npm run build" did not complete successfully: exit code: 1'
  const classic = "The command '/bin/sh -c npm run build' returned a non-zero code: 1"

  for (const error of [old, current, classic]) {
    const text = describeBuildFailure(error, { name: '[build 4/6] RUN npm run build', error })
    assert.equal(text, 'RUN npm run build exited with code 1')
  }
})

test('well-known exit codes are explained', () => {
  const explain = (code: number, reached?: Partial<ReachedLimits>) => {
    const step = { name: 'RUN x', error: `executor failed running [x]: exit code: ${code}` }
    const limits = { memoryMb: 64, cpus: 1, pids: 100 }
    return describeBuildFailure('', step, reached && { limits, memory: false, pids: false, ...reached })
  }
  const memory = 'the memory limit of builds, 64 MiB (--build-memory-limit)'
  const noMemory = 'RUN x was killed (exit code 137), most likely because the host ran out of memory'

  assert.equal(explain(127), 'RUN x exited with code 127: command not found')
  assert.equal(explain(137), noMemory)
  assert.equal(explain(137, { memory: false }), noMemory)
  assert.equal(explain(137, { memory: null }), `RUN x was killed (exit code 137), most likely at ${memory}`)
  assert.equal(explain(137, { memory: true }), `RUN x was killed at ${memory}`)
  assert.equal(
    explain(5, { memory: true }),
    `RUN x exited with code 5, after a process was killed at ${memory}`,
  )
  assert.equal(
    explain(2, { pids: true }),
    'RUN x exited with code 2, after builds reached their limit of 100 processes (--build-pids-limit)',
  )
})

test('the mounts of a step are not a part of its name', () => {
  const name = '[build 4/5] RUN --mount=type=cache,target=/root/.npm,sharing=locked --network=none npm ci'

  const text = describeBuildFailure('', { name, error: 'executor failed running [x]: exit code: 1' })

  assert.equal(text, 'RUN npm ci exited with code 1')
})

test('a long or multi-line step is shortened to one line', () => {
  const name = `[2/2] RUN one &&\n   two && ${'x'.repeat(200)}`

  const text = describeBuildFailure('', { name, error: 'executor failed running [x]: exit code: 2' })

  assert.match(text, /^RUN one && two && x{40,}…x{40,} exited with code 2$/)
  assert.equal(text.length, 120 + ' exited with code 2'.length)
})

test('an error that quotes a very long command is explained in under a second', () => {
  for (const phrase of [': stat ', ': lstat /buildkit-mount1/', '"/a', ' --from=a', '\n', ': exit']) {
    const command = phrase.repeat((512 * 1024) / phrase.length)
    const error = `executor failed running [/bin/sh -c ${command}]: exit code: 1`
    const { user } = process.cpuUsage()

    const text = describeBuildFailure(error, { name: `[2/2] RUN ${command}`, error })

    assert.match(text, /^RUN.* exited with code 1$/)
    const seconds = (process.cpuUsage().user - user) / 1e6
    assert.ok(seconds < 1, `${seconds} s for ${JSON.stringify(phrase)}`)
  }
})

test('a missing base image is named in its short form', () => {
  const error = 'failed to do request: Head "https://registry.example/v2/": no such host'
  const step = { name: '[internal] load metadata for docker.io/library/node:20', error }

  const text = describeBuildFailure(error, step)

  assert.equal(
    text,
    'the base image node:20 cannot be obtained: registry.example does not respond (no such host)',
  )
  assert.equal(buildFailureFacts(step, noLimits).reason, 'registry_unreachable')
  assert.equal(
    describeBuildFailure('', { name: 'FROM --platform=linux/amd64 node:20 AS build', error: 'unauthorized' }),
    'the base image node:20 cannot be obtained: unauthorized; ' +
      'berth registries add HOST stores credentials for a registry',
  )
})

test('the gRPC layers of an error are not shown', () => {
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
    'COPY nothing /x: there is no nothing in the build context',
  )
})

test('a missing file of the build context is named, without the paths of the engine', () => {
  const errors = [
    'failed to compute cache key: "/dist/api" not found: not found',
    'failed to calculate checksum of ref moby::x1: "/dist/api": not found',
    'failed to compute cache key: failed to walk /var/lib/docker/tmp/buildkit-mount12/dist/api: ' +
      'lstat /var/lib/docker/tmp/buildkit-mount12/dist/api: no such file or directory',
    'failed to walk /var/lib/docker/overlay2/k3x9a/merged/dist/api: ' +
      'lstat /var/lib/docker/overlay2/k3x9a/merged/dist/api: no such file or directory',
    'COPY failed: file not found in build context or excluded by .dockerignore: ' +
      'stat dist/api: file does not exist',
  ]
  for (const error of errors) {
    const step = { name: '[2/3] COPY dist/api api', error }
    assert.equal(
      describeBuildFailure(error, step),
      'COPY dist/api api: there is no dist/api in the build context',
    )
    assert.equal(buildFailureFacts(step, noLimits).missing_path, 'dist/api')
  }
})

test('a file that is missing in another stage is not looked for in the build context', () => {
  const errors = [
    'failed to compute cache key: "/out" not found: not found',
    'lstat /var/lib/docker/overlay2/154220a9b388/merged/out: no such file or directory',
  ]
  for (const error of errors) {
    const step = { name: '[stage-1 2/3] COPY --chown=1 --from=build /out /app', error }

    assert.match(describeBuildFailure(error, step), /: there is no out in the stage or image build$/)
    assert.equal(buildFailureFacts(step, noLimits).missing_from, 'build')
  }
})

test('a command that prints such an error itself failed with its own exit code', () => {
  const commands = [
    'echo \'"/x" not found\'; exit 1',
    'echo "error: stat a: file does not exist"; false',
    'echo ": lstat /buildkit-mount1/a: no such file or directory"; false',
  ]
  for (const command of commands) {
    const errors = [
      `process "/bin/sh -c ${command}" did not complete successfully: exit code: 1`,
      `The command '/bin/sh -c ${command}' returned a non-zero code: 1`,
    ]
    for (const error of errors) {
      const step = { name: '[2/3] RUN x', error }
      assert.equal(describeBuildFailure(error, step), 'RUN x exited with code 1')
      assert.deepEqual(buildFailureFacts(step, noLimits), { step: 'RUN x' })
    }
  }
})

test('a missing source of a mount is named', () => {
  const error = 'failed to compute cache key: failed to calculate checksum of ref moby::x1: "/a": not found'
  const step = { name: '[2/3] RUN --mount=type=bind,source=a,target=/a x', error }
  assert.match(describeBuildFailure(error, step), /: there is no a in the build context$/)
})
