// Backups of the server by `--server-backup-schedule`. One that is running already ends first. Those that
// were missed while the daemon was down are made up for by one. A held server makes none.

import { serverBackupName } from '../../domain/backup-files.ts'
import { nextTime } from '../../domain/schedule.ts'
import { assertNoneRuns, listServerBackups } from '../../domain/server-backups.ts'
import { messageOf } from '../../errors.ts'
import { bySchedule } from '../by.ts'
import { awaitExpiry } from '../disk/trash.ts'
import { isoNow } from '../iso-now.ts'
import type { ServerBackupPorts } from './server-backup.ts'

/** Returns the function that stops it. */
export function startServerBackupSchedule(ports: ServerBackupPorts): () => void {
  const stopping = new AbortController()
  const { schedule } = ports.serverBackups
  if (schedule !== null) {
    follow(ports, schedule, stopping.signal).catch((error: unknown) => {
      if (stopping.signal.aborted) return
      ports.logger.error({ reason: messageOf(error) }, 'the schedule of backups of the server has ended')
    })
  }
  return () => stopping.abort()
}

async function follow(ports: ServerBackupPorts, schedule: string, signal: AbortSignal): Promise<void> {
  const { storage, actors, logger, serverBackups } = ports
  await storage.hold.released(signal)
  const startedAt = isoNow()
  for (;;) {
    const [last] = listServerBackups(storage).filter(({ trigger }) => trigger === 'schedule')
    const dueAt = nextTime(schedule, new Date(last?.created_at ?? startedAt))?.getTime()
    await awaitExpiry({ wakeAt: dueAt ?? Number.POSITIVE_INFINITY }, signal)
    const id = storage.ids.newId('sbk')
    // Never before the time that was due, so that a clock that is set back makes no second one due.
    const at = new Date(Math.max(Date.now(), dueAt!)).toISOString()
    const input = {
      id,
      trigger: 'schedule' as const,
      file: serverBackupName(serverBackups.prefix, at, id),
      place: serverBackups.place,
      freshData: serverBackups.freshData,
      at,
    }
    try {
      const also = () => assertNoneRuns(storage)
      await actors.spawn('server-backup', id, input, { by: bySchedule, also })
    } catch (error) {
      signal.throwIfAborted()
      logger.warn({ reason: messageOf(error) }, 'a backup of the server could not be started')
      await awaitExpiry({ wakeAt: Date.now() + 60_000 }, signal)
    }
  }
}
