// Wires the builder, its limits, its cache, and the watch over a builder that may hang.
import type { Config } from '../config/config.ts'
import { openBuildCache } from '../docker/build/build-cache.ts'
import { createClassic } from '../docker/build/build-classic.ts'
import { BuilderWatch, createFallback } from '../docker/build/build-fallback.ts'
import { type BuildGuard, openBuildGuard } from '../docker/build/build-guard.ts'
import type { Engine } from '../docker/engine/client.ts'
import type { Owner } from '../docker/engine/names.ts'
import type { EnginePorts } from '../effects/engine/ports.ts'
import type { SharedPorts } from '../effects/ports.ts'
import type { Logger } from '../logger.ts'

export function openBuilder(
  config: Config,
  { engine, owner, logger }: Pick<EnginePorts, 'engine' | 'owner'> & Pick<SharedPorts, 'logger'>,
) {
  const buildGuard = openGuard(config, owner, logger)
  const cache = openCache(config, engine, logger)
  const builderWatch = openWatch(engine, logger)
  const options = { owner, guard: buildGuard, cache }
  const builder =
    config.builder === 'buildkit'
      ? createFallback(engine, { ...options, watch: builderWatch })
      : createClassic(engine, options)
  const close = () => {
    builderWatch.close()
    cache.close()
    buildGuard.close()
  }
  return { parts: { builder, builderWatch, buildGuard }, close }
}

function openWatch(engine: Engine, logger: Logger) {
  return new BuilderWatch(engine, {
    onHang: (since) => logger.error({ since }, "Docker's BuildKit hangs; using the classic builder"),
    onWorks: (since) => logger.info({ since }, "Docker's BuildKit works again"),
  })
}

function openCache(config: Config, engine: Engine, logger: Logger) {
  return openBuildCache(engine, {
    sizeMb: config['build-cache-size'] || null,
    onPruned: (bytes) => bytes > 0 && logger.info({ bytes }, 'the build cache was pruned'),
    onProblem: (reason) => logger.warn({ reason }, 'the build cache cannot be pruned'),
  })
}

function openGuard(config: Config, owner: Owner, logger: Logger): BuildGuard {
  const guard = openBuildGuard(config.docker, owner, {
    memoryMb: config['build-memory-limit'] || null,
    cpus: config['build-cpu-limit'] || null,
    pids: config['build-pids-limit'] || null,
  })
  const { limits, notEnforcedReason: reason } = guard
  if (reason === null) logger.info({ ...limits }, 'builds are limited')
  else logger.warn({ ...limits, reason }, 'the limits of builds are not in force')
  return guard
}
