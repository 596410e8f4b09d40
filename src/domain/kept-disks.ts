// The disks that deleted services left, for a new service of the same name.

interface KeptDisk {
  service_name: string
  /** Whether its service was deleted. */
  kept: boolean
}

export function keptDisksOf<Disk extends KeptDisk>(name: string, disks: Disk[]): Disk[] {
  return disks.filter(({ kept, service_name }) => kept && service_name === name)
}

/** Null if there are several. */
export function keptDiskOf<Disk extends KeptDisk>(name: string, disks: Disk[]): Disk | null {
  const [first = null, ...others] = keptDisksOf(name, disks)
  return others.length > 0 ? null : first
}
