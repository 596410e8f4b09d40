import type { Instances } from '../../docker/containers/instances.ts'
import type { DefaultLimits, EnginePorts } from '../engine/ports.ts'
import type { AddressPorts } from '../isolation/isolation.ts'
import type { SharedPorts } from '../ports.ts'
import type { JobSlots } from './job-slots.ts'

export interface JobRunPorts extends SharedPorts, EnginePorts, AddressPorts {
  instances: Instances
  jobSlots: JobSlots
  settings: DefaultLimits & { keepRuns: number }
}
