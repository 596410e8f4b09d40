// A build that needs the engine's builder while that hangs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BuilderWatch } from '../../../../src/docker/build/build-fallback.ts'
import { retryWhileBuilderUnavailable } from '../../../../src/effects/deploy/build/image.ts'
import type { DeployRun } from '../../../../src/effects/deploy/run.ts'
import { Failure } from '../../../../src/errors.ts'
import { standIn } from '../../../support/effects/stand-in.ts'

const hangs = new Failure('builder_hangs', 'it hangs')

function openSite(waitUntilWorking: BuilderWatch['waitUntilWorking']) {
  const lines: string[] = []
  const controller = new AbortController()
  const ports = { builderWatch: { waitUntilWorking } }
  const log = { info: (line: string) => void lines.push(line) }
  return { lines, controller, run: standIn<DeployRun>({ ports, log, signal: controller.signal }) }
}

const never: BuilderWatch['waitUntilWorking'] = (signal) =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
  })

test('the build is repeated when the builder works again', async () => {
  const { run, lines } = openSite(async () => undefined)
  let attempts = 0

  await retryWhileBuilderUnavailable(run, 60_000, async () => {
    if (++attempts < 3) throw hangs
  })

  assert.equal(attempts, 3)
  assert.equal(lines[0], 'it hangs: waiting until it works, for at most 1m')
  assert.equal(lines.at(-1), "the Docker engine's BuildKit works again")
})

test('the wait fails with its reason after the time limit of a build', async (t) => {
  const { run } = openSite(never)
  // The timer of the limit does not keep the process alive.
  const alive = setInterval(() => {}, 1000)
  t.after(() => clearInterval(alive))

  await assert.rejects(
    retryWhileBuilderUnavailable(run, 20, () => Promise.reject(hangs)),
    hangs,
  )
})

test('a cancel ends the wait with its reason', async () => {
  const { run, controller } = openSite(never)
  const ending = retryWhileBuilderUnavailable(run, 60_000, () => Promise.reject(hangs))

  controller.abort(new Error('canceled'))

  await assert.rejects(ending, /^Error: canceled$/)
})

test('other failures do not cause a wait', async () => {
  const { run, lines } = openSite(never)
  const failure = new Failure('build_failed', 'it failed')

  await assert.rejects(
    retryWhileBuilderUnavailable(run, 60_000, () => Promise.reject(failure)),
    failure,
  )
  assert.deepEqual(lines, [])
})
