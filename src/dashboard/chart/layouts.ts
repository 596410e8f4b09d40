// The charts as they were laid out when the dashboard was built, one file for each kind.
import type { ChartLayout } from '../build/layout-charts.ts'

export type { ChartLayout } from '../build/layout-charts.ts'

const files = import.meta.glob<ChartLayout>('./layouts/*.json', {
  import: 'default',
})

/** Null for a kind that this build does not know. */
export async function loadLayout(kind: string): Promise<ChartLayout | null> {
  const load = files[`./layouts/${kind}.json`]
  return load ? await load() : null
}
