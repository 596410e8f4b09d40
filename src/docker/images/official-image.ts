// Docker's official images that Berth itself runs. They are pulled by digest, so that the engine verifies the
// content. If that fails, another image on the host is used.
import { codeOf, Failure, messageOf } from '../../errors.ts'
import type { Engine } from '../engine/client.ts'
import { type ImageReference, parseImageReference, pinnedName } from './image-reference.ts'
import { inspectImage } from './images.ts'
import { pullImage, resolveDigest } from './pull.ts'

export interface OfficialImage {
  /** A tag is resolved each time. */
  reference: string
  findOther(): Promise<string | null>
  /** Called when another image is used. */
  onOther(facts: { image: string; reason: string }): void
  /** The code of the failure if no image can be used, and the option that helps. */
  missingCode: string
  option: string
}

/** Without a network, resolving the name of a public registry takes seconds. */
const answerMs = 10_000
const pullMs = 5 * 60_000
/** How long another image is used before the registry is asked again. */
const silenceMs = 10 * 60_000
const silentUntil = new Map<string, number>()

/** The name of an image on the engine. Throws `missingCode`, `docker_unavailable`, or the signal's reason. */
export async function obtainOfficialImage(
  engine: Engine,
  { reference, findOther, onOther, missingCode, option }: OfficialImage,
  signal: AbortSignal,
): Promise<string> {
  const image = parseImageReference(reference)
  if (image.digest !== null && (await inspectImage(engine, reference))) return reference
  const isSilent = Date.now() < (silentUntil.get(reference) ?? 0)
  const known = isSilent ? await findOther() : null
  if (known !== null) return known
  try {
    return await pullByDigest(engine, image, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (codeOf(error) === 'docker_unavailable') throw error
    const reason = messageOf(error)
    const other = await findOther()
    if (other === null) throw new Failure(missingCode, `${reason} (${option} names another image to use)`)
    silentUntil.set(reference, Date.now() + silenceMs)
    onOther({ image: other, reason })
    return other
  }
}

async function pullByDigest(engine: Engine, image: ImageReference, signal: AbortSignal): Promise<string> {
  const request = { credentials: null, signal }
  const { reference } = image
  const name = pinnedName(image, await resolveDigest(engine, { ...request, reference }, answerMs))
  if (await inspectImage(engine, name)) return name
  const bound = AbortSignal.any([signal, AbortSignal.timeout(pullMs)])
  await pullImage(engine, { ...request, reference: name, signal: bound, onLine: () => undefined })
  return name
}

/** The name of the newest image on the host of the first of these repositories that has one, or null. */
export async function findNewestImage(engine: Engine, repositories: string[]): Promise<string | null> {
  for (const repository of repositories) {
    const filters = { reference: [repository] }
    const images = await engine.call('list images', (abortSignal) =>
      engine.docker.listImages({ filters, abortSignal }),
    )
    const [newest] = images.sort((a, b) => b.Created - a.Created)
    const names = [...(newest?.RepoTags ?? []), ...(newest?.RepoDigests ?? [])]
    const name = names.find((one) => one.replace(/(:[^/]*|@.*)$/, '') === repository)
    if (name) return name
  }
  return null
}
