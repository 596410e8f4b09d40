// The server's explanation of an outcome: the reason, the next step, and the duration of each phase.
import type { Why } from '../../api/parts/failure.ts'
import type { Cli } from './session.ts'

/** The path of a record: `/deploys/dep-…`. */
export function fetchWhy({ client }: Pick<Cli, 'client'>, path: string): Promise<Why> {
  return client.call<Why>('GET', `${path}/why`)
}
