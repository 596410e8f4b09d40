// Datastores, their backups and restores, and the trash.
const server = 'Postgres or Redis.'

export const datastoreMeanings: Record<string, string> = {
  Datastore: 'A managed Postgres or Redis.',
  'Datastore.kind': server,
  'Datastore.version': 'The version of the server.',
  'Datastore.database': 'The database; null for Redis.',
  'Datastore.username': 'The user that may connect.',
  'Datastore.host_port': 'The port on the host, which stays the same; null until it has one.',
  'Datastore.internal_port': 'The port for services.',
  'Datastore.backup_keep': 'How many of the backups that the schedule began are kept.',
  'Datastore.shared_network': 'Whether every service may connect to it.',
  'Datastore.next_backup_at': 'When the schedule is due next; null without one.',
  CreateDatastore: 'A datastore to be created.',
  'CreateDatastore.kind': server,
  'CreateDatastore.name': 'Unique among services and datastores; services reach it by this name.',

  Backup: 'A backup of a datastore.',
  'Backup.kind': server,
  'Backup.size_bytes': 'The size of its file; null until that is complete.',
  'Backup.trigger':
    '`manual`: a request. `schedule`: the schedule of the datastore. `final`: the deletion of the datastore.',
  'Backup.phase':
    'Of a running backup. `dumping`: the data are read. `checking`: the file is read back. `waiting`: for ' +
    'the next attempt.',
  'Backup.attempts': 'How often it was tried.',
  'Backup.sha256': 'Of its file; null until that is complete.',

  Restore: 'The data of a backup, or of a file, on their way into a datastore.',
  'Restore.kind': server,
  'Restore.size_bytes': 'The size of the file; null until that is known.',
  'Restore.status':
    '`running`: see `phase`. `undoing`: it failed or was canceled, and what was prepared is removed. ' +
    '`done`: the datastore has the data. `failed`: see `error`. `canceled`: on request. After both the ' +
    'datastore has its former data.',
  CreateRestore: 'Which backup to restore.',
  'CreateRestore.backup_id': 'The id of a good backup, of any datastore of the same kind.',

  TrashEntry: 'A deleted datastore or disk that can be restored.',
  'TrashEntry.kind': 'What was deleted.',
  'TrashEntry.datastore_kind': 'Postgres or Redis; null for a disk.',
  'TrashEntry.deleted_at': 'When it was deleted.',
  RestoreTrash: 'How to restore an entry of the trash.',
  RestoredTrash: 'What was restored.',
  'RestoredTrash.kind': 'What was restored.',
}
