// Building the image of a deploy. Its name is a function of the deploy's id: one that is there is not built
// twice.
import { access } from 'node:fs/promises'
import { join, normalize, relative } from 'node:path'
import { inspectImage } from '../../docker/images.ts'
import { imageName, labels, ownerLabels } from '../../docker/names.ts'
import { Failure } from '../../errors.ts'
import { type Host, isoNow } from '../host.ts'
import { whileEngineReturns } from '../waiting.ts'
import { type DeployLog, isBegunAgain, openDeployLog } from './log.ts'
import { checkoutDirectory, removeWork, resolveInside } from './source.ts'
import { starterFor } from './starter.ts'

interface BuildInput {
  id: string
  serviceId: string
  clearCache: boolean
  timeoutMs: number
}

export function buildImage(host: Host) {
  return async (input: BuildInput, signal: AbortSignal) => {
    const log = openDeployLog(host, input.id)
    const service = host.storage.services.get(input.serviceId)!
    const image = imageName(host.owner, service.name, input.id)
    const isBuilt = () => inspectImage(host.engine, image)
    if (!(await whileEngineReturns(host, signal, isBuilt))) {
      const onWait = (running: number) =>
        log.say(`waiting for a build slot: ${running === 1 ? '1 build is' : `${running} builds are`} running`)
      const giveBack = await host.buildSlots.take(signal, onWait)
      try {
        await buildInSlot(host, input, image, log, signal)
      } finally {
        giveBack()
      }
    }
    await removeWork(host, input.id)
    return { at: isoNow(), image }
  }
}

/** The clock of a build starts here, where it has its slot. */
async function buildInSlot(
  host: Host,
  input: BuildInput,
  image: string,
  log: DeployLog,
  signal: AbortSignal,
) {
  if (isBegunAgain(host, input.id)) log.say('the build starts again: the daemon was restarted')
  const expired = AbortSignal.timeout(input.timeoutMs)
  const either = AbortSignal.any([signal, expired])
  try {
    const { contextDir, dockerfile } = await findDockerfile(host, input.id, log)
    const build = () =>
      host.builder.build({
        contextDir,
        dockerfile,
        sourceDir: checkoutDirectory(host, input.id),
        tag: image,
        labels: { ...ownerLabels(host.owner), [labels.kind]: 'image', [labels.id]: input.id },
        noCache: input.clearCache,
        buildArgs: {},
        onLine: log.write,
        signal: either,
      })
    await whileEngineReturns(host, either, build, () =>
      log.say('the Docker engine went away: building again'),
    )
  } catch (error) {
    if (expired.aborted && !signal.aborted) {
      throw new Failure(
        'build_timeout',
        `the build took longer than its limit of ${input.timeoutMs / 1000} s (--build-timeout)`,
      )
    }
    throw error
  }
}

/** Where the Dockerfile is. Without one the failure says where it looked, and the log shows a starter. */
async function findDockerfile(host: Host, deployId: string, log: DeployLog) {
  const { settings } = host.storage.releases.get(deployId)!
  const checkout = checkoutDirectory(host, deployId)
  const contextDir = await resolveInside(checkout, settings.root_dir ?? '.', 'root_dir')
  const wanted = settings.dockerfile_path ?? 'Dockerfile'
  const shown = normalize(join(settings.root_dir ?? '.', wanted))
  const exists = await access(join(contextDir, wanted)).then(
    () => true,
    () => false,
  )
  if (!exists) {
    for (const line of await starterFor(contextDir, shown)) log.say(line)
    throw new Failure('dockerfile_not_found', `there is no ${shown} in the repository`)
  }
  const dockerfile = await resolveInside(checkout, shown, 'dockerfile_path')
  return { contextDir, dockerfile: relative(contextDir, dockerfile) }
}
