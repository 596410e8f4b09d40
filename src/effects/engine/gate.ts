// The gate to the engine: effects pass when it answers, is ours to use, and has our network.
// Mind: objects of our prefix with another server id mean a wrong data directory; passing would clean a host.
import { sleep } from '../../async/sleep.ts'
import { ensureNetwork, type Network } from '../../docker/network/networks.ts'
import { codeOf, type Failure } from '../../errors.ts'
import type { PrivateNetwork } from './ports.ts'
import { claimPrefix, isRefusal, type PrefixClaim } from './prefix-claim.ts'

export interface Gate {
  /** Resolves when the engine answers and the network is there; waits as long as the signal lets it. */
  ready(signal: AbortSignal): Promise<PrivateNetwork>
  /** Whether it ever was. */
  isOpen(): boolean
}

export interface GateOptions extends PrefixClaim {
  subnet: string
  /** Runs once, before the first effect passes. */
  reconcile: () => Promise<void>
  /** The network that all instances get, told each time the gate opens. */
  onOpen: (network: Network) => void
  /** The engine holds objects of our prefix that are another server's: the daemon must not go on. */
  onForeign: (failure: Failure) => void
}

const firstPauseMs = 250
const longestPauseMs = 5000

export function createGate(options: GateOptions): Gate {
  const { engine } = options
  let network: PrivateNetwork | null = null
  let opening: Promise<PrivateNetwork> | null = null
  let wasOpen = false

  /** One opening at a time, shared by all who wait. */
  function open(): Promise<PrivateNetwork> {
    opening ??= openOnce().finally(() => {
      opening = null
    })
    return opening
  }

  async function openOnce(): Promise<PrivateNetwork> {
    if (!wasOpen) await claim(options)
    const found = await ensureNetwork(engine, options.owner, options.subnet)
    if (!wasOpen) await options.reconcile()
    wasOpen = true
    network = { name: found.name, range: addressRange(found.subnet), gateway: found.gateway }
    options.onOpen(found)
    return network
  }

  return {
    isOpen: () => wasOpen,
    async ready(signal) {
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
        signal.throwIfAborted()
        try {
          await engine.ping()
          return network ?? (await open())
        } catch (error) {
          // After an outage the network is looked for anew: the engine may have been reinstalled.
          network = null
          if (codeOf(error) !== 'docker_unavailable') throw error
          await sleep(pauseMs, signal)
        }
      }
    },
  }
}

async function claim(options: GateOptions): Promise<void> {
  try {
    await claimPrefix(options)
  } catch (error) {
    if (isRefusal(error)) options.onForeign(error)
    throw error
  }
}

/** All of a /16 but its network address, the gateway and the broadcast address. */
function addressRange(subnet: string): PrivateNetwork['range'] {
  const [a, b] = subnet.split('.')
  return { first: `${a}.${b}.0.2`, last: `${a}.${b}.255.254` }
}
