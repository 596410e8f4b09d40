// Rejects uploads that do not fit on the disk, before the first write.
import { Failure } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'

const mebibyte = 1024 * 1024

/** Throws `insufficient_storage` if less than `--min-free-disk` would remain free. */
export async function assertDiskSpace({ config, observe }: HttpContext, sizeBytes: number): Promise<void> {
  const freeMb = Math.floor(((await observe.diskFreeBytes()) - sizeBytes) / mebibyte)
  if (freeMb >= config.minFreeDiskMb) return
  throw new Failure(
    'insufficient_storage',
    `${config.dataDir} would have only ${Math.max(0, freeMb)} MiB free; ` +
      `at least ${config.minFreeDiskMb} MiB is required (--min-free-disk)`,
  )
}
