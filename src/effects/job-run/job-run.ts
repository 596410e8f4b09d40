// The effects of a job run: one for each slot of its chart, in the order of its life.
import type { machine } from '../../../machines/job-run/job-run.ts'
import type { Effects } from '../../../machines/slot.ts'
import type { Host } from '../host.ts'
import { clearRun } from './clear.ts'
import { followRun } from './follow.ts'
import { startRun } from './start.ts'
import { stopRun } from './stop.ts'
import { awaitTurn } from './turn.ts'

export function jobRunEffects(host: Host): Effects<typeof machine> {
  return {
    awaitTurn: awaitTurn(host),
    startRun: startRun(host),
    followRun: followRun(host),
    stopRun: stopRun(host),
    clearRun: clearRun(host),
  }
}
