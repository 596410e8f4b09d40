// The value of `${{datastore.NAME.PROP}}` in the env of a service. It may be a secret, so it is stored only
// in the sealed env of a release.
import { connectionString, datastorePorts, externalHost } from '../../domain/datastore-urls.ts'
import type { DatastoreProperty } from '../../domain/env-references.ts'
import { findDatastore } from './access.ts'
import type { DatastoreBind, DatastorePorts } from './ports.ts'

/** null if the datastore or the property does not exist. */
export function lookUpDatastore(
  ports: Pick<DatastorePorts, 'owner' | 'storage'> & { settings: DatastoreBind },
  name: string,
  property: string,
): string | null {
  const id = ports.storage.datastores.idOf(name)
  if (id === null || id === name) return null
  const { record, credentials } = findDatastore(ports, id)
  const { kind, status, host_port } = record
  if (status === 'deleting') return null
  const outside = { host: externalHost(ports.settings.datastoreBind), port: host_port ?? 0 }
  const values: Record<DatastoreProperty, string | null> = {
    connectionString: connectionString(kind, credentials, { host: name, port: datastorePorts[kind] }),
    externalConnectionString: host_port === null ? null : connectionString(kind, credentials, outside),
    host: name,
    port: String(datastorePorts[kind]),
    user: credentials.username,
    password: credentials.password,
    database: credentials.database,
  }
  return Object.hasOwn(values, property) ? values[property as DatastoreProperty] : null
}
