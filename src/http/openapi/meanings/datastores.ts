// Datastores, their backups and restores, and the trash.
const server = 'Postgres or Redis.'

export const datastoreMeanings: Record<string, string> = {
  Datastore: 'A managed Postgres or Redis.',
  'Datastore.kind': server,
  'Datastore.version': 'The version of Postgres or Redis.',
  'Datastore.database': 'The database; null for Redis.',
  'Datastore.username': 'The user of the connection strings.',
  'Datastore.host_port': 'The port on the host, which never changes; null until it is allocated.',
  'Datastore.internal_port': 'The port for services.',
  'Datastore.backup_keep': 'The number of scheduled backups to keep.',
  'Datastore.shared_network': 'Whether every service may connect.',
  'Datastore.next_backup_at': 'When the next scheduled backup is due; null without a schedule.',
  CreateDatastore: 'A new datastore.',
  'CreateDatastore.kind': server,
  'CreateDatastore.name':
    'Unique among services and datastores. Services connect to the datastore by this name.',

  UpgradeDatastore: 'An upgrade to a newer major version, or the return from one.',
  UpgradeEstimate: 'What an upgrade would take.',
  'UpgradeEstimate.from': 'The version that it has.',
  'UpgradeEstimate.to': 'The requested version.',
  Backup: 'A backup of a datastore.',
  'Backup.kind': server,
  'Backup.size_bytes': 'The size of the backup file; null until the file is complete.',
  'Backup.trigger':
    '`manual`: a request. `schedule`: the schedule of the datastore. `final`: the deletion of the datastore.',
  'Backup.phase':
    'The phase of a running backup. `dumping`: reading the data. `checking`: verifying the file. ' +
    '`waiting`: for the next attempt.',
  'Backup.attempts': 'The number of attempts.',
  'Backup.sha256': 'Checksum of the backup file; null until the file is complete.',

  Restore: 'A restore of a backup or a file into a datastore.',
  'Restore.kind': server,
  'Restore.size_bytes': 'The size of the file; null until known.',
  'Restore.status':
    '`running`: see `phase`. `undoing`: failed or canceled; prepared data is being removed. `done`: the ' +
    'datastore has the restored data. `failed`: see `error`. `canceled`: on request. After a failure or a ' +
    'cancellation the datastore has its previous data.',
  CreateRestore: 'The backup to restore.',
  'CreateRestore.backup_id': 'The id of a good backup of any datastore of the same kind.',

  TrashEntry: 'A deleted datastore or disk that can be restored.',
  'TrashEntry.kind': 'What was deleted.',
  'TrashEntry.datastore_kind': 'Postgres or Redis; null for a disk.',
  'TrashEntry.deleted_at': 'When the datastore or disk was deleted.',
  RestoreTrash: 'How to restore an entry of the trash.',
  RestoredTrash: 'What was restored.',
  'RestoredTrash.kind': 'What was restored.',
}
