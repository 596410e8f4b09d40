// The daemon examines its own host on request: one look at a time, whose result is shared for some seconds,
// because a look starts programs and asks the engine.
import { SharedRounds } from '../async/shared-rounds.ts'
import type { Config } from '../config/config.ts'
import { examine } from '../doctor/index.ts'
import type { HttpContext } from '../http/pipeline/context.ts'
import type { Ports } from './ports.ts'

type Parts = Pick<Ports, 'engine' | 'storage' | 'isolation' | 'buildGuard' | 'builderWatch'>
type Doctor = HttpContext['doctor']

const freshMs = 5_000

export function createDoctor(config: Config, parts: Parts): Doctor {
  let last: Awaited<ReturnType<Doctor>> | null = null
  let lookedAtMs = Number.NEGATIVE_INFINITY
  const rounds = new SharedRounds(async () => {
    if (performance.now() - lookedAtMs < freshMs) return
    last = { checked_at: new Date().toISOString(), findings: await look(config, parts) }
    lookedAtMs = performance.now()
  })
  return async () => {
    await rounds.run()
    return last!
  }
}

function look(config: Config, { engine, storage, isolation, buildGuard, builderWatch }: Parts) {
  return examine({
    config: { ...config, 'data-dir': storage.directory },
    engine,
    stored: storage,
    storeError: null,
    pid: process.pid,
    live: {
      isolationReason: isolation.state().reason,
      buildsReason: buildGuard.notEnforcedReason,
      builderHangsSince: builderWatch.hangsSince(),
    },
  })
}
