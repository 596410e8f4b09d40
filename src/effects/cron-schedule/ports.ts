import type { SharedPorts } from '../ports.ts'

export type CronSchedulePorts = SharedPorts
