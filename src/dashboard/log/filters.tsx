// Which lines are shown: by stream, by instance, and by the status of the response.
import { useMemo } from 'react'
import { Choice } from '../controls/choice.tsx'
import type { Filter } from './filter.ts'
import type { Lines } from './lines.ts'

interface FiltersProps {
  lines: Lines
  filter: Filter
  onFilter: (change: Partial<Filter>) => void
}

const streamWords = { stdout: 'Output', stderr: 'Errors', system: 'Berth' }
const statusWords = { '2': '2xx', '3': '3xx', '4': '4xx', '5': '5xx', '0': 'No response' }
/** Where the values to choose from are looked for. */
const newestLines = 1_000

export function Filters({ lines, filter, onFilter }: FiltersProps) {
  const { last, first } = lines
  const { streams, instances } = useMemo(() => valuesIn(lines), [lines, first, last])
  const isAccess = streams.has('access')
  return (
    <>
      {isAccess ? (
        <Choice
          label="Status"
          all="Status: all"
          value={filter.status}
          options={Object.entries(statusWords)}
          onChoose={(status) => onFilter({ status })}
        />
      ) : (
        <Choice
          label="Stream"
          all="Stream: all"
          value={filter.stream}
          options={Object.entries(streamWords)}
          onChoose={(stream) => onFilter({ stream })}
        />
      )}
      {instances.length > 1 && (
        <Choice
          label="Instance"
          all="Instance: all"
          value={filter.instance}
          options={instances.map((instance) => [instance, `Instance ${instance}`])}
          onChoose={(instance) => onFilter({ instance })}
        />
      )}
    </>
  )
}

function valuesIn(lines: Lines) {
  const newest = lines.all().slice(-newestLines)
  const instances = new Set(newest.flatMap(({ instance }) => (instance === undefined ? [] : [instance])))
  return { streams: new Set(newest.map(({ stream }) => stream)), instances: [...instances].sort() }
}
