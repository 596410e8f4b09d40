// Fresh backups of all datastores or disks before a backup of the server, which has their files and records.
// Here they are deleted afterwards; on a restored server they are what its data is restored from.
import { join } from 'node:path'
import type { BackupInput, BackupSubject } from '../../../machines/backup.ts'
import type { DataPart, FreshData } from '../../../machines/server-backup.ts'
import { sleep } from '../../async/sleep.ts'
import { diskName, type Owner } from '../../docker/engine/names.ts'
import { folderPlace } from '../../domain/backup-files.ts'
import { byServer } from '../by.ts'
import { isoNow } from '../iso-now.ts'
import type { SharedPorts } from '../ports.ts'

export interface FreshDataPorts extends SharedPorts {
  owner: Owner
  settings: { dataDir: string; backupDir: string }
}

const by = byServer('a backup of the server')
const pollMs = 500

/** One after the other, which loads the server least. What fails is named, and fails nothing else. */
export async function backUpData(ports: FreshDataPorts, wanted: FreshData[], signal: AbortSignal) {
  const parts: DataPart[] = []
  for (const subject of subjectsOf(ports, wanted)) parts.push(await backUp(ports, subject, signal))
  return parts
}

function subjectsOf({ storage, owner }: FreshDataPorts, wanted: FreshData[]): BackupSubject[] {
  const datastores = storage.datastores.listAll().flatMap(({ id, name }): BackupSubject[] => {
    const record = storage.datastores.isTrashed(id) ? null : storage.actors.record<'datastore'>(id)
    if (record === null) return []
    return [{ kind: record.kind, datastoreId: id, datastoreName: name, version: record.version }]
  })
  const disks = storage.services.list().flatMap((service): BackupSubject[] => {
    const { id: serviceId, name: serviceName, disk_mount_path, live_deploy_id } = service
    if (disk_mount_path === null || live_deploy_id === null) return []
    return [{ kind: 'disk', disk: diskName(owner, service), serviceId, serviceName }]
  })
  return [...(wanted.includes('datastores') ? datastores : []), ...(wanted.includes('disks') ? disks : [])]
}

async function backUp(ports: FreshDataPorts, subject: BackupSubject, signal: AbortSignal): Promise<DataPart> {
  const { storage, actors, settings } = ports
  const name = subject.kind === 'disk' ? subject.serviceName : subject.datastoreName
  const part = { kind: subject.kind, name, copied_at: isoNow() }
  if (settings.backupDir !== join(settings.dataDir, 'backups'))
    return { ...part, error: '--backup-dir is outside of the data directory' }
  const id = storage.ids.newId('bak')
  const input: BackupInput = { id, ...subject, place: folderPlace, trigger: 'server', at: part.copied_at }
  await actors.spawn('backup', id, input, { by })
  for (;;) {
    const record = storage.actors.record<'backup'>(id)
    if (record?.status === 'good') return { ...part, error: null }
    const isOver = record?.status !== 'running' || storage.actors.parkedOf(id) !== null
    if (isOver) return { ...part, error: record?.error ?? 'the backup was deleted' }
    await sleep(pollMs, signal)
  }
}

/** Also those of an interrupted attempt, but none that came with the data directory of a restored server. */
export async function discardData({ storage, actors }: SharedPorts, serverBackupId: string): Promise<void> {
  const since = storage.actors.record<'server-backup'>(serverBackupId)?.created_at ?? isoNow()
  for (const { id } of [...storage.actors.active('backup')]) {
    const record = storage.actors.record<'backup'>(id)
    if (record?.trigger !== 'server' || record.created_at < since) continue
    await actors.send(id, { type: 'delete', at: isoNow(), by: 'a backup of the server' })
  }
}
