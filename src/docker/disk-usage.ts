// What an engine keeps on its disk, by kind: all of it, whoever made it.
import { type Engine, withSignal } from './client.ts'

export interface DockerUsage {
  imagesBytes: number
  /** What containers wrote beside their images and volumes. */
  containersBytes: number
  volumesBytes: number
  buildCacheBytes: number
}

interface Found {
  LayersSize?: number
  Containers?: { SizeRw?: number }[] | null
  Volumes?: { UsageData?: { Size: number } | null }[] | null
  BuildCache?: { Size: number; Shared: boolean }[] | null
}

/** The engine walks all its volumes and layers for it. */
const timeoutMs = 10 * 60_000

/** Throws what an engine call throws. */
export async function dockerUsage({ call, docker }: Engine): Promise<DockerUsage> {
  const ask = (signal: AbortSignal) => withSignal<Found>(docker, docker.df, signal)
  const found = await call('count what is on the disk', ask, { timeoutMs })
  return {
    imagesBytes: found.LayersSize ?? 0,
    containersBytes: sum((found.Containers ?? []).map(({ SizeRw }) => SizeRw ?? 0)),
    // A driver that cannot tell says -1.
    volumesBytes: sum((found.Volumes ?? []).map(({ UsageData }) => Math.max(0, UsageData?.Size ?? 0))),
    // What images hold too counts there.
    buildCacheBytes: sum((found.BuildCache ?? []).map(({ Size, Shared }) => (Shared ? 0 : Size))),
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
