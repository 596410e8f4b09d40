// The slots of a deploy in the order of their use, with the input and output of each.

import { type SlotInput, type SlotOutput, slot } from '../slot.ts'
import type { DeploySource, DeployWarning, Fetched, HealthCheck, PortSource, Turn } from './deploy-context.ts'

interface DeploySlotInput extends SlotInput {
  serviceId: string
}

/** The port on which the app is expected to listen, and later the one on which it does. */
interface Listening {
  port: number
  portSource: PortSource
}

export const slots = {
  awaitTurn: slot<DeploySlotInput & { source: DeploySource }, Turn>(),
  fetchSource: slot<DeploySlotInput & { source: DeploySource }, SlotOutput & Fetched>(),
  buildImage: slot<
    DeploySlotInput & { clearCache: boolean; timeoutMs: number },
    SlotOutput & { image: string }
  >(),
  pullImage: slot<
    DeploySlotInput & { source: DeploySource },
    SlotOutput & { image: string; source: DeploySource }
  >(),
  runPreDeploy: slot<DeploySlotInput & { image: string; commitSha: string | null }, SlotOutput>(),
  startInstances: slot<
    DeploySlotInput & { image: string; commitSha: string | null },
    SlotOutput & Listening & { warnings: DeployWarning[] }
  >(),
  probeInstances: slot<
    DeploySlotInput & Listening & { settleMs: number },
    SlotOutput & Listening & { healthCheck: HealthCheck }
  >(),
  switchTraffic: slot<DeploySlotInput & { formerDeployId: string | null }, SlotOutput>(),
  keepInstances: slot<DeploySlotInput & { image: string }, SlotOutput>(),
  drainInstances: slot<DeploySlotInput & { drainUntil: number; port: number }, SlotOutput>(),
  removeTraces: slot<
    DeploySlotInput & { formerDeployId: string | null; outcome: string; canceled: boolean },
    SlotOutput
  >(),
}
