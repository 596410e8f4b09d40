// The default limits of builds on this host.
import { existsSync, statfsSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'

const mebibyte = 1024 * 1024

/** Half of the memory: services keep the other half. */
export function buildMemoryMb(): number {
  return Math.max(512, Math.floor(totalmem() / 2 / mebibyte))
}

/** All CPUs but an eighth, so the daemon and the edge always get CPU time. */
export function buildCpus(): number {
  return Math.round(availableParallelism() * 87.5) / 100
}

/** 10 GiB, or a tenth of the disk if that is less. */
export function buildCacheMb(): number {
  const { blocks, bsize } = statfsSync(existsSync('/var/lib/docker') ? '/var/lib/docker' : '/')
  return Math.max(64, Math.floor(Math.min(10 * 1024, (blocks * bsize) / 10 / mebibyte)))
}
