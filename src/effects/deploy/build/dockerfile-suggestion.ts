// The error for a project without a Dockerfile: where Berth looked for one, and a suggested Dockerfile.
import { suggestDockerfile } from '../../../domain/starter-dockerfile.ts'

/** Lines for the deploy's log. `shown` is the path that Berth looked for. */
export async function suggestionLines(directory: string, path: string): Promise<string[]> {
  const { kind, dockerfile, notes } = await suggestDockerfile(directory)
  const looks = `looked for ${path} and found none; this looks like ${kind}`
  if (dockerfile.length === 0) return [looks, ...notes]
  return [
    looks,
    'a Dockerfile to start from:',
    ...dockerfile.map((line) => `    ${line}`),
    ...notes,
    'commit it and deploy again',
  ]
}
