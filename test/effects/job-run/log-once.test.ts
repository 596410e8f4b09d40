// Berth's lines in the log of a run, which must survive a kill of the daemon at any later step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logOnce } from '../../../src/effects/job-run/turn.ts'
import type { ActorLogPorts } from '../../../src/effects/logs/actor-log.ts'
import { openLogs } from '../../../storage/log/logs.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('log lines before a container is created are written first, and once', async (t) => {
  const directory = temporaryDirectory(t)
  // A log that is not flushed by its timer during this test.
  const logs = openLogs(directory, { flushMs: 600_000 })
  t.after(() => logs.close())
  const ports = standIn<ActorLogPorts>({ storage: { logs } })

  await logOnce(ports, 'job-1', 'running ls')

  const afterKill = openLogs(directory)
  t.after(() => afterKill.close())
  assert.deepEqual(
    (await afterKill.tail('job-1', 9)).map(({ line }) => line),
    ['running ls'],
  )
  await logOnce(standIn<ActorLogPorts>({ storage: { logs: afterKill } }), 'job-1', 'running ls')
  assert.equal((await afterKill.tail('job-1', 9)).length, 1)
})
