// Counting the steps of a build by the lines of its log.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBuildTally } from '../../../src/cli/deploy/build-tally.ts'

function tallyOf(lines: string[]) {
  const tally = createBuildTally()
  for (const line of lines) tally.hear(line)
  return tally
}

test('steps of the Dockerfile are counted, and those that were cached; what BuildKit adds is neither', () => {
  const tally = tallyOf([
    '#1 [internal] load build definition from Dockerfile',
    '#1 DONE 0.0s',
    '#2 [internal] load metadata for docker.io/library/node:22',
    '#2 CACHED',
    '#3 [1/3] FROM docker.io/library/node:22',
    '#3 CACHED',
    '#4 [build 2/3] RUN make',
    '#4 0.100 #9 CACHED',
    '#4 DONE 1.0s',
    '#5 [stage-1 3/3] COPY --from=build /app /app',
  ])

  assert.equal(tally.summary(), '3 steps, 1 cached')
  assert.equal(tally.current(), '[stage-1 3/3] COPY --from=build /app /app')
})

test('the classic builder counts too', () => {
  const tally = tallyOf(['Step 1/2 : FROM busybox', ' ---> 1a2b', 'Step 2/2 : RUN make', ' ---> Using cache'])

  assert.deepEqual([tally.summary(), tally.current()], ['2 steps, 1 cached', 'RUN make'])
})

test('without a step there is nothing to say', () => {
  const tally = tallyOf(['waiting for a build slot: 1 build is running', '#1 CACHED'])

  assert.deepEqual([tally.summary(), tally.current()], [null, null])
})
