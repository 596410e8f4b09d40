// When effects may use the engine: it responds, the prefix belongs to this server, and the network exists.
// Objects with the prefix and another server id mean a wrong data directory: continuing would delete them.
import type { Storage } from '../../../storage/index.ts'
import { sleep } from '../../async/sleep.ts'
import { requireOwnPrefix } from '../../docker/engine/ownership.ts'
import { ensureNetwork, type Network } from '../../docker/network/networks.ts'
import { codeOf, Failure } from '../../errors.ts'
import type { EnginePorts, PrivateNetwork } from './ports.ts'

export interface EngineReadinessOptions extends Pick<EnginePorts, 'engine' | 'owner'> {
  storage: Pick<Storage, 'predecessors'>
  subnet: string
  /** Runs once, before the first effect uses the engine. */
  reconcile: () => Promise<void>
  /** Runs each time the engine becomes ready: no build runs then, whose image has no name for a moment. */
  removeNameless: () => Promise<void>
  /** The network that all instances get, passed on each time the engine becomes ready. */
  onOpen: (network: Network) => void
  /** The engine has objects with this prefix that belong to another server: the daemon must not continue. */
  onForeignObjects: (failure: Failure) => void
}

const firstPauseMs = 250
const longestPauseMs = 5000

export function createEngineReadiness(options: EngineReadinessOptions): Pick<EnginePorts, 'engineReady'> {
  const { engine } = options
  let network: PrivateNetwork | null = null
  let opening: Promise<PrivateNetwork> | null = null
  let isReconciled = false

  /** Only one check runs at a time; all waiting callers share it. */
  function open(): Promise<PrivateNetwork> {
    opening ??= openOnce().finally(() => {
      opening = null
    })
    return opening
  }

  async function openOnce(): Promise<PrivateNetwork> {
    if (!isReconciled) await claimPrefix(options)
    const found = await ensureNetwork(engine, options.owner, options.subnet)
    if (!isReconciled) await options.reconcile()
    isReconciled = true
    await options.removeNameless()
    network = { name: found.name, range: addressRange(found.subnet), gateway: found.gateway }
    options.onOpen(found)
    return network
  }

  return {
    async engineReady(signal) {
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
        signal.throwIfAborted()
        try {
          await engine.ping()
          return network ?? (await open())
        } catch (error) {
          // After an outage the network is looked up again, because the engine may have been reinstalled.
          network = null
          if (codeOf(error) !== 'docker_unavailable') throw error
          await sleep(pauseMs, signal)
        }
      }
    },
  }
}

async function claimPrefix(options: EngineReadinessOptions): Promise<void> {
  const { engine, owner, storage, onForeignObjects } = options
  try {
    await requireOwnPrefix(engine, owner, storage.predecessors())
  } catch (error) {
    if (error instanceof Failure && error.code === 'foreign_objects') onForeignObjects(error)
    throw error
  }
}

/** The whole /16 except its network address, the gateway and the broadcast address. */
function addressRange(subnet: string): PrivateNetwork['range'] {
  const [a, b] = subnet.split('.')
  return { first: `${a}.${b}.0.2`, last: `${a}.${b}.255.254` }
}
