// The intermediate image of a build, from which the image of the deploy is made.
import { removeImage } from '../docker/images/images.ts'
import { messageOf } from '../errors.ts'
import type { BuildJob } from './builder.ts'

/** If the image cannot be removed now, the cleanup of the deploy and the next start retry it. */
export async function removeTree({ engine, owner, tree, logger }: BuildJob): Promise<void> {
  await removeImage(engine, owner, tree.tag).catch((error: unknown) => {
    const fields = { image: tree.tag, reason: messageOf(error) }
    logger.info(fields, 'an intermediate image could not be removed')
  })
}
