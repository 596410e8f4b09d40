// Which lines of a log are shown.
import type { Line } from './lines.ts'

/** An empty text shows all. */
export interface Filter {
  stream: string
  instance: string
  /** The first digit of the status: `5`. */
  status: string
}

/** What the reader looks for. */
export interface LogSearch extends Filter {
  query: string
}

export const noSearch: LogSearch = { query: '', stream: '', instance: '', status: '' }

/** `until`: without later lines. */
export function isShownBy(
  { stream, instance, status }: Filter,
  until: number | null = null,
): (line: Line) => boolean {
  return (line) =>
    (until === null || line.at <= until) &&
    (stream === '' || line.stream === stream) &&
    (instance === '' || line.instance === instance) &&
    (status === '' || Math.floor((line.status ?? 0) / 100) === Number(status))
}
