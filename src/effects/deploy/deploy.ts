// The effects of a deploy: one for each slot of its chart, in the order of its life.
import type { machine } from '../../../machines/deploy/deploy.ts'
import type { Effects } from '../../../machines/slot.ts'
import { buildImage } from './build/image.ts'
import { pullImage } from './build/pull.ts'
import { probeInstances } from './check/check.ts'
import { removeTraces } from './end/cleanup.ts'
import { drainInstances } from './end/drain.ts'
import { keepInstances } from './live/upkeep.ts'
import { DeployPhase, type DeployRef } from './phase.ts'
import type { DeployPorts } from './ports.ts'
import { awaitTurn } from './queue/turn.ts'
import { fetchSource } from './source/source.ts'
import { startInstances } from './start/instances.ts'
import { runPreDeploy } from './start/pre-deploy.ts'
import { switchTraffic } from './switch/switch.ts'

export function deployEffects(ports: DeployPorts): Effects<typeof machine> {
  function inPhase<Input, Output>(work: (phase: DeployPhase, input: Input) => Promise<Output>) {
    return (input: Input & DeployRef, signal: AbortSignal) =>
      work(new DeployPhase(ports, input, signal), input)
  }
  return {
    awaitTurn: inPhase(awaitTurn),
    fetchSource: inPhase(fetchSource),
    buildImage: inPhase(buildImage),
    pullImage: inPhase(pullImage),
    runPreDeploy: inPhase(runPreDeploy),
    startInstances: inPhase(startInstances),
    probeInstances: inPhase(probeInstances),
    switchTraffic: inPhase(switchTraffic),
    keepInstances: inPhase(keepInstances),
    drainInstances: inPhase(drainInstances),
    removeTraces: inPhase(removeTraces),
  }
}
