// The effects of a job run: one for each slot of its chart, in the order of its life.
import type { machine } from '../../../machines/job-run/job-run.ts'
import type { Effects } from '../../../machines/slot.ts'
import { clearRun } from './clear.ts'
import { followRun } from './follow.ts'
import type { JobRunPorts } from './ports.ts'
import { startRun } from './start.ts'
import { stopRun } from './stop.ts'
import { awaitTurn } from './turn.ts'

export function jobRunEffects(ports: JobRunPorts): Effects<typeof machine> {
  return {
    awaitTurn: awaitTurn(ports),
    startRun: startRun(ports),
    followRun: followRun(ports),
    stopRun: stopRun(ports),
    clearRun: clearRun(ports),
  }
}
