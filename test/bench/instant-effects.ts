// Effects that finish at once, so that only the supervisor, the charts and the store are measured.
import { catalogue, type Kind } from '../../machines/index.ts'

const at = '2026-01-01T00:00:00.000Z'

/** Not an image in Docker. */
export const instantImage = 'berth/shop:dep-01k0000000000000000000000'

/** A result that fits every slot of every chart. */
const outcome = {
  at,
  supersededBy: null,
  formerDeployId: null,
  exclusive: false,
  checkMs: 300_000,
  settleMs: 0,
  drainMs: 0,
  reused: null,
  commitSha: 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3',
  commitMessage: 'Say hello to the second shop',
  image: instantImage,
  port: 3000,
  portSource: 'image',
  healthCheck: 'port',
  preDeploy: null,
}

export interface InstantEffects {
  effects: Record<string, Record<string, (input: unknown, signal: AbortSignal) => Promise<unknown>>>
  /** Resolves when this many held effects have started. */
  whenHeld(count: number): Promise<void>
}

/** Effects for every slot of the catalogue; those named in `held` wait until they are aborted. */
export function instantEffects(held: string[]): InstantEffects {
  let started = 0
  const waiting: { count: number; resolve: () => void }[] = []

  function hold(_: unknown, signal: AbortSignal): Promise<unknown> {
    started++
    for (const { count, resolve } of waiting) if (started >= count) resolve()
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }

  const effectsOf = ({ machine }: Kind) =>
    Object.fromEntries(
      Object.keys(machine.implementations.actors).map((slot) => [
        slot,
        held.includes(slot) ? hold : async () => outcome,
      ]),
    )
  return {
    effects: Object.fromEntries(Object.entries(catalogue).map(([kind, one]) => [kind, effectsOf(one)])),
    whenHeld: (count) =>
      new Promise((resolve) => {
        if (started >= count) resolve()
        else waiting.push({ count, resolve })
      }),
  }
}
