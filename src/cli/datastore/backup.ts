// Waits for a backup or a restore, and prints a backup to standard output.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Backup, Restore } from '../../api/backup.ts'
import { sleep } from '../../async/sleep.ts'
import { size } from '../../quantities.ts'
import { incompleteResponse } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, interruption } from '../failure.ts'
import { showStep } from '../terminal/step.ts'

const pollMs = 400

type Work = Backup | Restore

/** Polls until the work ends. Ctrl-C stops only the polling. Throws CliFailure if the work failed. */
export async function awaitWork<W extends Work>(
  cli: Cli,
  { name, path, begin }: { name: string; path: string; begin: () => Promise<W> },
): Promise<W> {
  const { client, out, signal } = cli
  let current: W | null = null
  const step = {
    name,
    detail: () => (current ? progressOf(current) : ''),
    summary: ({ error, size_bytes: bytes }: W) => (error === null ? size(bytes ?? 0) : null),
  }
  const over = await showStep(out, step, async () => {
    current = await begin()
    while (isUnderWay(current)) {
      const { id } = current
      await sleep(pollMs, signal).catch(() => {
        throw interruption(`${id} continues in the background`)
      })
      current = await client.call<W>('GET', `${path}/${current.id}`)
    }
    return current
  })
  if (over.status === 'good' || over.status === 'done') return over
  const hint = name === 'restoring' ? 'nothing was changed: the previous data is still served' : undefined
  throw new CliFailure(`${over.datastore}: ${over.error ?? `the work is ${over.status}`}`, { hint })
}

function isUnderWay({ status }: Work): boolean {
  return status === 'running' || status === 'undoing'
}

/** `dumping, 12.4 MiB`, `checking, 3.1 MiB of 12.4 MiB` */
function progressOf({ status, phase, done_bytes: done, total_bytes: total }: Work): string {
  const amount = done === null ? '' : total === null ? size(done) : `${size(done)} of ${size(total)}`
  return [phase ?? status, amount].filter((text) => text !== '').join(', ')
}

/** Throws CliFailure if the downloaded bytes differ from those that the server verified. */
export async function printBackup(cli: Cli, { id, size_bytes: sizeBytes, sha256 }: Backup): Promise<void> {
  const { client, out, stdout } = cli
  const response = await client.open('GET', `/backups/${id}/content`)
  const hash = createHash('sha256')
  let bytes = 0
  const step = {
    name: 'downloading',
    detail: () => `${size(bytes)} of ${size(sizeBytes ?? 0)}`,
    summary: () => size(bytes),
  }
  await showStep(out, step, async () => {
    const pieces = response.body as AsyncIterable<Uint8Array>
    try {
      for await (const piece of pieces) {
        hash.update(piece)
        bytes += piece.length
        if (!stdout.write(piece)) await once(stdout, 'drain')
      }
    } catch (error) {
      if (cli.signal.aborted) throw interruption()
      throw (error as { code?: string }).code === 'EPIPE' ? error : incompleteResponse(client.url)
    }
  })
  if (bytes === sizeBytes && hash.digest('hex') === sha256) return
  throw new CliFailure('the downloaded file is not the one that the server verified', {
    hint: 'delete the file and try again',
  })
}
