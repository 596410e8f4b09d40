// Memory and swap of the host.
import { readFile } from 'node:fs/promises'
import { size } from '../quantities.ts'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

const gibibyte = 2 ** 30

export async function checkMemory(_: Examined): Promise<Finding[] | string> {
  const text = await readFile('/proc/meminfo', 'utf8')
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
  return memoryFaults({ total: bytes('MemTotal'), free: bytes('MemAvailable'), swap: bytes('SwapTotal') })
}

interface Memory {
  total: number
  free: number
  swap: number
}

export function memoryFaults({ total, free, swap }: Memory): Finding[] | string {
  const values = { total: size(total), free: size(free) }
  const found = [
    ...(total < 0.9 * gibibyte ? [finding('memory_small', values)] : []),
    ...(free < total / 20 ? [finding('memory_low', values)] : []),
    ...(swap === 0 && total < 4 * gibibyte ? [finding('swap_missing', values)] : []),
  ]
  return found.length > 0 ? found : `${values.free} of ${values.total} available, ${size(swap)} of swap`
}
