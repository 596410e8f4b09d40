// The effects of a deploy: one for each slot of its chart, in the order of its life.
import type { machine } from '../../../machines/deploy/deploy.ts'
import type { Effects } from '../../../machines/slot.ts'
import { buildImage } from './build/image.ts'
import { pullImage } from './build/pull.ts'
import { probeInstances } from './check/check.ts'
import { removeTraces } from './end/cleanup.ts'
import { drainInstances } from './end/drain.ts'
import { keepInstances } from './live/upkeep.ts'
import type { DeployPorts } from './ports.ts'
import { awaitTurn } from './queue/turn.ts'
import { fetchSource } from './source/source.ts'
import { startInstances } from './start/instances.ts'
import { runPreDeploy } from './start/pre-deploy.ts'
import { switchTraffic } from './switch/switch.ts'

export function deployEffects(ports: DeployPorts): Effects<typeof machine> {
  return {
    awaitTurn: awaitTurn(ports),
    fetchSource: fetchSource(ports),
    buildImage: buildImage(ports),
    pullImage: pullImage(ports),
    runPreDeploy: runPreDeploy(ports),
    startInstances: startInstances(ports),
    probeInstances: probeInstances(ports),
    switchTraffic: switchTraffic(ports),
    keepInstances: keepInstances(ports),
    drainInstances: drainInstances(ports),
    removeTraces: removeTraces(ports),
  }
}
