// The disks that deleted services left, for a new service of the same name.
import type { Disk } from '../api/disk.ts'

export function leftDisks(name: string, disks: Disk[]): Disk[] {
  return disks.filter(({ kept, service_name }) => kept && service_name === name)
}

/** Null if there are several. */
export function leftDisk(name: string, disks: Disk[]): Disk | null {
  const [first = null, ...others] = leftDisks(name, disks)
  return others.length > 0 ? null : first
}
