import type { Instances } from '../../docker/containers/instances.ts'
import type { DefaultLimits, EnginePorts } from '../engine/ports.ts'
import type { AddressPorts } from '../isolation/isolation.ts'
import type { SharedPorts } from '../ports.ts'
import type { JobSlots } from './job-slots.ts'
import type { RunInputs } from './run-inputs.ts'

export interface JobRunPorts extends SharedPorts, EnginePorts, AddressPorts {
  instances: Instances
  jobSlots: JobSlots
  runInputs: RunInputs
  settings: DefaultLimits & { keepRuns: number }
}
