// The disk that `berth create` proposes for a well-known image that keeps data.
import { dataPathOf } from '../../domain/stateful-images.ts'
import type { Cli } from '../client/session.ts'
import { confirm } from '../terminal/prompts.ts'

interface Choices {
  image?: unknown
  type?: string | undefined
  /** Null refuses a disk. */
  disk_mount_path?: unknown
  instances?: unknown
}

/** The setting of the disk; empty without one. Without a terminal it only warns. */
export async function offerDisk(cli: Cli, chosen: Choices): Promise<{ disk_mount_path?: string }> {
  const path = typeof chosen.image === 'string' ? dataPathOf(chosen.image) : null
  const isDecided = chosen.disk_mount_path !== undefined || chosen.type === 'cron_job'
  if (path === null || isDecided || Number(chosen.instances ?? 1) > 1) return {}
  const { out } = cli
  if (!out.canAsk) {
    out.say(
      ` ${out.tint('yellow', '!')} this image keeps its data in ${path}: --disk ${path} gives that a disk`,
    )
    return {}
  }
  const message = `This image keeps its data in ${path}. A disk for it? (one instance, short gaps)`
  const isWanted = await confirm(cli, { message, instead: `--disk ${path}, or --disk '' for none` }, true)
  return isWanted ? { disk_mount_path: path } : {}
}
