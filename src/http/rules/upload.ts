// Stores an uploaded file and starts what uses it. The file is removed if the actor is not committed.
import type { Storage } from '../../../storage/index.ts'
import { Failure } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import type { Upload } from '../pipeline/route.ts'

const mebibyte = 1024 * 1024

interface Use<Result> {
  files: Storage['archives']
  idPrefix: 'dep' | 'rst'
  /** How many of the first bytes tell the format. */
  headBytes: number
  /** Throws for a wrong format, as soon as it is known. The head of a shorter file is shorter. */
  checkHead(head: Buffer): void
  start(id: string, sizeBytes: number): Promise<Result>
}

export async function storeUpload<Result>(
  context: HttpContext,
  upload: Upload,
  { files, idPrefix, headBytes, checkHead, start }: Use<Result>,
): Promise<Result> {
  const draft = files.create()
  let head: Buffer = Buffer.alloc(0)
  const addToHead = (piece: Uint8Array) => {
    if (head.length === headBytes) return
    head = Buffer.concat([head, piece.subarray(0, headBytes - head.length)])
    if (head.length === headBytes) checkHead(head)
  }
  try {
    const sizeBytes = await context.whileDiskHasRoom('an upload', (signal) =>
      upload.receive({
        open: () => assertDiskSpace(context, upload.contentLength ?? 0),
        async write(piece) {
          signal.throwIfAborted()
          addToHead(piece)
          await draft.write([piece])
        },
      }),
    )
    if (head.length < headBytes) checkHead(head)
    const id = context.storage.ids.newId(idPrefix)
    try {
      await draft.commit(id)
      return await start(id, sizeBytes)
    } catch (error) {
      if (!context.storage.actors.record(id)) await files.remove(id)
      throw error
    }
  } finally {
    await draft.discard()
  }
}

/** Throws `insufficient_storage` if less than `--min-free-disk` would remain free. */
async function assertDiskSpace({ config, observe }: HttpContext, sizeBytes: number): Promise<void> {
  const freeMb = Math.floor(((await observe.diskFreeBytes()) - sizeBytes) / mebibyte)
  if (freeMb >= config.minFreeDiskMb) return
  throw new Failure(
    'insufficient_storage',
    `${config.dataDir} would have only ${Math.max(0, freeMb)} MiB free; ` +
      `at least ${config.minFreeDiskMb} MiB is required (--min-free-disk)`,
  )
}
