// Counting the steps of a build by what the server says of the lines of its log.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBuildTally } from '../../../src/cli/deploy/view.ts'

type Step = Parameters<ReturnType<typeof createBuildTally>['addLine']>[0]['step']

function tallyOf(steps: Step[]) {
  const tally = createBuildTally()
  for (const step of steps) tally.addLine(step ? { step } : {})
  return tally
}

const started = (number: number, name: string): Step => ({ number, state: 'started', name })

test('Dockerfile steps and cached steps are counted; steps that BuildKit adds are not', () => {
  const tally = tallyOf([
    started(1, '[internal] load build definition from Dockerfile'),
    { number: 1, state: 'done' },
    started(2, '[internal] load metadata for docker.io/library/node:22'),
    { number: 2, state: 'cached' },
    started(3, '[1/3] FROM docker.io/library/node:22'),
    { number: 3, state: 'cached' },
    started(4, '[build 2/3] RUN make'),
    { number: 4 },
    { number: 4, state: 'done' },
    started(5, '[stage-1 3/3] COPY --from=build /app /app'),
  ])

  assert.equal(tally.summary(), '3 steps, 1 cached')
  assert.equal(tally.current(), '[stage-1 3/3] COPY --from=build /app /app')
})

test('without steps the summary is empty', () => {
  const tally = tallyOf([undefined, { number: 1, state: 'cached' }])

  assert.deepEqual([tally.summary(), tally.current()], [null, null])
})
