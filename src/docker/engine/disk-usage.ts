// The disk usage of an engine by kind, including the objects of other users of the engine.
import { type Engine, withSignal } from './client.ts'

export interface DockerUsage {
  images_bytes: number
  /** The size of what containers wrote outside their volumes. */
  containers_bytes: number
  volumes_bytes: number
  build_cache_bytes: number
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
  const usage = await call('count what is on the disk', ask, { timeoutMs })
  return {
    images_bytes: usage.LayersSize ?? 0,
    containers_bytes: sum((usage.Containers ?? []).map(({ SizeRw }) => SizeRw ?? 0)),
    // -1 when the driver does not know.
    volumes_bytes: sum((usage.Volumes ?? []).map(({ UsageData }) => Math.max(0, UsageData?.Size ?? 0))),
    // Shared entries are counted with the images.
    build_cache_bytes: sum((usage.BuildCache ?? []).map(({ Size, Shared }) => (Shared ? 0 : Size))),
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
