// Builds by BuildKit, and by the engine's classic builder while BuildKit hangs: restarting the engine, the
// only cure, would interrupt every service.
import { Failure } from '../../errors.ts'
import { buildKitFeature } from '../dockerfile/dockerfile.ts'
import type { Engine } from '../engine/client.ts'
import type { Owner } from '../engine/names.ts'
import type { Builder, BuildRequest } from './build.ts'
import { whenBuildsIdle } from './build.ts'
import type { BuildCache } from './build-cache.ts'
import { classicDriver } from './build-classic.ts'
import type { BuildGuard } from './build-guard.ts'
import { buildKitDriver } from './build-kit.ts'
import { BuilderHangs, type BuilderWatch } from './builder-watch.ts'

interface FallbackOptions {
  owner: Owner
  guard: BuildGuard
  cache: BuildCache
  watch: BuilderWatch
}

/** Throws `builder_hangs` while BuildKit hangs, for a Dockerfile that needs it. */
export function createFallback(engine: Engine, { owner, guard, cache, watch }: FallbackOptions): Builder {
  const buildKit = buildKitDriver(engine, { owner, guard })
  const classic = classicDriver(engine, { owner, guard, check: refuseNeed })
  // Both builders share one `whenBuildsIdle`: a process that one kills as left over could be a step of
  // the other's build.
  const run = whenBuildsIdle(async () => {
    await buildKit.tidy()
    await classic.tidy()
  })

  async function build(request: BuildRequest): Promise<{ imageId: string }> {
    const say = (line: string) => request.onLine('system', line, null)
    if (watch.hangsSince() === null) {
      try {
        return await run(() => watch.during(request, buildKit.build))
      } catch (error) {
        if (!(error instanceof BuilderHangs)) throw error
        say("the Docker engine's BuildKit hangs: it has stopped completing builds")
      }
    } else say(`the Docker engine's BuildKit has been hanging since ${watch.hangsSince()}`)
    say('building with the classic builder, without the build cache of BuildKit')
    return run(() => classic.build(request))
  }

  return { build: (request) => cache.during(() => build(request)) }
}

function refuseNeed(dockerfile: string): void {
  const need = buildKitFeature(dockerfile)
  if (need === null) return
  throw new Failure(
    'builder_hangs',
    `the Docker engine's BuildKit hangs, and the Dockerfile needs BuildKit (${need})`,
  )
}
