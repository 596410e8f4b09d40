// Declares the record type of each kind for storage, which does not import machines/.
import type { RecordTypes } from '../../machines/index.ts'

declare module '../../storage/actors/actor-row.ts' {
  interface KindRecords extends RecordTypes {}
}
