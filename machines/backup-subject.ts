// What a backup has the data of, and a restore replaces: a datastore, or the disk of a service.
import type { DatastoreKind } from './datastore/datastore-context.ts'

export interface DatastoreSubject {
  kind: DatastoreKind
  datastoreId: string
  /** Stored here, because backups outlive their datastore. */
  datastoreName: string
}

export interface DiskSubject {
  kind: 'disk'
  /** The name of its volume. */
  disk: string
  serviceId: string
  serviceName: string
}

interface SubjectFields {
  /** The owner in lists: the datastore, or the service of the disk. */
  service_id: string
  datastore_id: string | null
  datastore: string | null
  kind: DatastoreKind | 'disk'
  service: string | null
  disk: string | null
}

/** As records have it. */
export function subjectFields(subject: DatastoreSubject | DiskSubject): SubjectFields {
  const { kind } = subject
  if (subject.kind === 'disk') {
    const { disk, serviceId, serviceName } = subject
    return { service_id: serviceId, datastore_id: null, datastore: null, kind, service: serviceName, disk }
  }
  const { datastoreId, datastoreName } = subject
  const shared = { service_id: datastoreId, datastore_id: datastoreId, datastore: datastoreName }
  return { ...shared, kind, service: null, disk: null }
}
