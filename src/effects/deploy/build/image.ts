// Builds the image of a deploy. Its name is derived from the deploy's id, so an existing image is not
// built again.
import { inTurn } from '../../../async/in-turn.ts'
import { sleep } from '../../../async/sleep.ts'
import { emptyBuildCache } from '../../../docker/build/build-cache.ts'
import type { BuilderWatch } from '../../../docker/build/builder-watch.ts'
import { imageName, labels, ownerLabels } from '../../../docker/engine/names.ts'
import { inspectImage } from '../../../docker/images/images.ts'
import { codeOf, Failure, messageOf } from '../../../errors.ts'
import { duration } from '../../../quantities.ts'
import { guardDockerDisk } from '../../disk/disk.ts'
import { isoNow } from '../../iso-now.ts'
import { retryWhileEngineUnavailable } from '../../waiting.ts'
import { type DeployLog, isRetry, openDeployLog } from '../log.ts'
import type { DeployPorts } from '../ports.ts'
import { requireRelease } from '../release.ts'
import { removeWork } from '../source/source.ts'
import { buildDockerfile, findBuildCache } from './dockerfile.ts'
import { buildSite } from './static-site.ts'

interface BuildInput {
  id: string
  serviceId: string
  clearCache: boolean
  timeoutMs: number
}

const mebibyte = 1024 * 1024
const cacheClearAttempts = 10

export function buildImage(ports: DeployPorts) {
  return async (input: BuildInput, signal: AbortSignal) => {
    const log = openDeployLog(ports, input.id)
    const service = ports.storage.services.get(input.serviceId)!
    const image = imageName(ports.owner, service.name, input.id)
    const isBuilt = () => inspectImage(ports.engine, image)
    if (!(await retryWhileEngineUnavailable(ports, signal, isBuilt))) {
      const build = () => buildInSlot(ports, input, image, log, signal)
      const onWait = (running: number) => log.info(slotWaitMessage(running))
      await retryWhileBuilderUnavailable(
        { builderWatch: ports.builderWatch, log, timeoutMs: input.timeoutMs, signal },
        () => inTurn(ports.buildSlots, signal, build, onWait),
      )
    }
    await removeWork(ports, input.id)
    return { at: isoNow(), image }
  }
}

function slotWaitMessage(running: number): string {
  return `waiting for a build slot: ${running === 1 ? '1 build is' : `${running} builds are`} running`
}

/** The build's time limit starts here, once it has its slot. */
async function buildInSlot(
  ports: DeployPorts,
  input: BuildInput,
  image: string,
  log: DeployLog,
  signal: AbortSignal,
) {
  if (isRetry(ports, input.id)) log.info('the build starts again: the daemon was restarted')
  const expired = AbortSignal.timeout(input.timeoutMs)
  const either = AbortSignal.any([signal, expired])
  try {
    const isSite = requireRelease(ports, input.id).settings.type === 'static_site'
    const make = isSite ? buildSite : buildFromDockerfile
    // If the engine became unavailable at the very end, the build may still have finished.
    const isBuilt = () => inspectImage(ports.engine, image)
    const build = () =>
      guardDockerDisk(ports, 'a build', either, async (bound) => {
        if (!(await isBuilt())) await make(ports, input, image, log, bound)
      })
    await retryWhileEngineUnavailable(ports, either, build, () =>
      log.info('the Docker engine became unavailable: building again'),
    )
  } catch (error) {
    if (expired.aborted && !signal.aborted) {
      throw new Failure(
        'build_timeout',
        `the build took longer than its limit of ${duration(input.timeoutMs)} (--build-timeout)`,
      )
    }
    if (codeOf(error) === 'insufficient_storage') await clearCache(ports, log, signal)
    throw error
  }
}

/**
 * The finished steps of a canceled build are in the cache: without this the disk would stay full. The engine
 * keeps them in use for about a second after the end of the build.
 */
async function clearCache(ports: DeployPorts, log: DeployLog, signal: AbortSignal): Promise<void> {
  try {
    let freedBytes = 0
    for (let attempt = 0; freedBytes === 0 && attempt < cacheClearAttempts; attempt++) {
      await sleep(1000, signal)
      freedBytes = await emptyBuildCache(ports.engine)
    }
    const freedMb = Math.floor(freedBytes / mebibyte)
    log.info(`the build cache was emptied because the disk is too full: ${freedMb} MiB freed`)
  } catch (error) {
    ports.logger.warn({ reason: messageOf(error) }, 'the build cache cannot be emptied')
  }
}

async function buildFromDockerfile(
  ports: DeployPorts,
  input: BuildInput,
  image: string,
  log: DeployLog,
  signal: AbortSignal,
): Promise<void> {
  await buildDockerfile(ports, input.id, log, {
    tag: image,
    labels: { ...ownerLabels(ports.owner), [labels.kind]: 'image', [labels.id]: input.id },
    ...(await findBuildCache(ports, input)),
    signal,
  })
}

interface Waiting {
  builderWatch: Pick<BuilderWatch, 'waitUntilWorking'>
  log: Pick<DeployLog, 'info'>
  /** The limit of each wait. When it is reached, the build's own error is thrown. */
  timeoutMs: number
  signal: AbortSignal
}

/** A build that needs BuildKit while BuildKit hangs waits without a build slot, so other builds can run. */
export async function retryWhileBuilderUnavailable(
  { builderWatch, log, timeoutMs, signal }: Waiting,
  build: () => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      return await build()
    } catch (error) {
      if (codeOf(error) !== 'builder_hangs') throw error
      log.info(`${messageOf(error)}: waiting until it works, for at most ${duration(timeoutMs)}`)
      log.info('a restart of the Docker engine ends this, and interrupts every service')
      const expired = AbortSignal.timeout(timeoutMs)
      await builderWatch.waitUntilWorking(AbortSignal.any([signal, expired])).catch(() => {
        signal.throwIfAborted()
        throw error
      })
      log.info("the Docker engine's BuildKit works again")
    }
  }
}
