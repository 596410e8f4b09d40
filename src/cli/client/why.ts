// What the server knows of an outcome: why it failed, what to do, and where the time went.
import type { Why } from '../../api/parts/failure.ts'
import type { Cli } from './session.ts'

/** The path of a record: `/deploys/dep-…`. */
export function fetchWhy({ client }: Pick<Cli, 'client'>, path: string): Promise<Why> {
  return client.call<Why>('GET', `${path}/why`)
}
