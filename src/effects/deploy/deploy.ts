// The effects of a deploy: one for each slot of its chart, in the order of its life.
import type { machine } from '../../../machines/deploy/deploy.ts'
import type { Effects } from '../../../machines/slot.ts'
import type { Host } from '../host.ts'
import { buildImage } from './build/image.ts'
import { pullImage } from './build/pull.ts'
import { probeInstances } from './check/probe.ts'
import { removeTraces } from './end/cleanup.ts'
import { drainInstances } from './end/drain.ts'
import { keepInstances } from './live/upkeep.ts'
import { awaitTurn } from './queue/turn.ts'
import { fetchSource } from './source/source.ts'
import { startInstances } from './start/instances.ts'
import { runPreDeploy } from './start/pre-deploy.ts'
import { switchTraffic } from './switch/switch.ts'

export function deployEffects(host: Host): Effects<typeof machine> {
  return {
    awaitTurn: awaitTurn(host),
    fetchSource: fetchSource(host),
    buildImage: buildImage(host),
    pullImage: pullImage(host),
    runPreDeploy: runPreDeploy(host),
    startInstances: startInstances(host),
    probeInstances: probeInstances(host),
    switchTraffic: switchTraffic(host),
    keepInstances: keepInstances(host),
    drainInstances: drainInstances(host),
    removeTraces: removeTraces(host),
  }
}
