// What schedules need of the daemon.
import type { SharedPorts } from '../ports.ts'

export type CronSchedulePorts = SharedPorts
