// The error for a project without a Dockerfile: where Berth looked for one, and a suggested Dockerfile.
import { suggestDockerfile } from '../../../domain/starter-dockerfile.ts'

/** Lines for the deploy's log. `shown` is the path that Berth looked for. */
export async function suggestionLines(directory: string, path: string): Promise<string[]> {
  const { kind, dockerfile, notes } = await suggestDockerfile(directory)
  return [
    `looked for ${path} and found none; this looks like ${kind}`,
    'a Dockerfile to start from:',
    ...dockerfile.map((line) => `    ${line}`),
    ...notes,
    'commit it (or set dockerfile_path and root_dir) and deploy again',
  ]
}
