// The charts as they were laid out when the dashboard was built, one file for each kind.
import { queryOptions } from '@tanstack/react-query'
import type { ChartLayout } from '../build/layout-charts.ts'

export type { ChartLayout } from '../build/layout-charts.ts'

const files = import.meta.glob<ChartLayout>('./layouts/*.json', {
  import: 'default',
})

export function layoutQuery(kind: string) {
  return queryOptions({ queryKey: ['layout', kind], queryFn: () => loadLayout(kind) })
}

/** Null for a kind that this build does not know. */
async function loadLayout(kind: string): Promise<ChartLayout | null> {
  const load = files[`./layouts/${kind}.json`]
  return load ? await load() : null
}
