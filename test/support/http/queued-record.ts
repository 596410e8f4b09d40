// The record of a newly queued deploy, from its chart.
import { getInitialSnapshot } from 'xstate'
import { machine } from '../../../machines/deploy/deploy.ts'
import type { DeployInput } from '../../../machines/deploy/deploy-context.ts'
import { toRecord } from '../../../machines/deploy/deploy-record.ts'
import type { By } from '../../../storage/actors/actors.ts'

export function queuedRecord(input: object, by: By | null = null) {
  return { ...toRecord(getInitialSnapshot(machine, input as DeployInput)), revision: 1, by }
}
