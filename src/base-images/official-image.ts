// Official images, pinned by digest in each release: the engine verifies the pulled content. If the
// registry does not respond, images built from Debian packages are used.
import { createHash } from 'node:crypto'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Engine } from '../docker/engine/client.ts'
import { inspectImage } from '../docker/images/images.ts'
import { pullImage, resolveDigest } from '../docker/images/pull.ts'
import { codeOf } from '../errors.ts'
import { cacheDirectory } from './debian-packages.ts'

/** Without a network, resolving the name of a public registry takes seconds. */
const answerMs = 10_000
const pullMs = 5 * 60_000
const silenceMs = 6 * 60 * 60_000

/**
 * Pulls the image if needed, and returns whether the engine has it. After a registry did not respond, no
 * daemon of this user contacts it again for six hours. Throws `docker_unavailable`, and the signal's reason.
 */
export async function hasOfficialImage(
  engine: Engine,
  reference: string,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await inspectImage(engine, reference)) !== null) return true
  const marker = join(cacheDirectory, `unanswered-${hashOf(reference)}`)
  if (await isRecent(marker)) return false
  const request = { reference, credentials: null, signal }
  try {
    await resolveDigest(engine, request, answerMs)
    const bound = AbortSignal.any([signal, AbortSignal.timeout(pullMs)])
    await pullImage(engine, { ...request, signal: bound, onLine: () => undefined })
    return true
  } catch (error) {
    signal.throwIfAborted()
    if (codeOf(error) === 'docker_unavailable') throw error
    await mkdir(cacheDirectory, { recursive: true })
    await writeFile(marker, '')
    return false
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

async function isRecent(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => null)
  return stats !== null && Date.now() - stats.mtimeMs < silenceMs
}
