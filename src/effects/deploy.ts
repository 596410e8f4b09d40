// The effects of a deploy: one for each slot of its chart, in the order of its life.
import type { machine } from '../../machines/deploy.ts'
import type { Effects } from '../../machines/slot.ts'
import { drainInstances } from './deploy/drain.ts'
import { buildImage } from './deploy/image.ts'
import { startInstances } from './deploy/instances.ts'
import { runPreDeploy } from './deploy/pre-deploy.ts'
import { probeInstances } from './deploy/probe.ts'
import { pullImage } from './deploy/pull.ts'
import { fetchSource } from './deploy/source.ts'
import { removeTraces } from './deploy/traces.ts'
import { switchTraffic } from './deploy/traffic.ts'
import { awaitTurn } from './deploy/turn.ts'
import { keepInstances } from './deploy/upkeep.ts'
import type { Host } from './host.ts'

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
