// Limits of a container: MiB and CPUs. Undefined if omitted, null if 0 restores the server's default.
import { z } from 'zod'
import { clearableByZero } from './fields.ts'

const mebibytes = z
  .int()
  .min(0)
  .max(1_048_576)
  .refine((mib) => mib === 0 || mib >= 16, { error: 'must be 0 for the default, or at least 16' })
const cpus = z
  .number()
  .min(0)
  .max(512)
  .refine((cpus) => cpus === 0 || cpus >= 0.01, { error: 'must be 0 for the default, or at least 0.01' })

export const memoryLimit = clearableByZero(mebibytes)
/** Rounded to hundredths. */
export const cpuLimit = clearableByZero(cpus).transform((cpus) =>
  cpus ? Math.round(cpus * 100) / 100 : cpus,
)
