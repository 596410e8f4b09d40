// Finds the Dockerfiles of an untrusted source: links are not followed, and the search is bounded.
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'

const maxEntries = 20_000
const maxFound = 5
/** `Dockerfile`, `Dockerfile.prod`, `api.Dockerfile`, `dockerfile`, `Containerfile`. */
const dockerfileName = /^([\w-]+\.)?(dockerfile|containerfile)(\.(?!dockerignore$)[\w-]+)?$/i
const usualNames = [/^Dockerfile$/, /^dockerfile$/i, /^containerfile$/i]
const skippedFolders = new Set(['.git', 'node_modules', 'vendor'])

/** Which name of a folder is its Dockerfile: in any case of letters, and by the name that Podman gives it. */
export function findUsualDockerfile(names: readonly string[], type?: string): string | undefined {
  // For a site, only the exact name has ever counted.
  const patterns = type === 'static_site' ? usualNames.slice(0, 1) : usualNames
  return patterns.flatMap((pattern) => names.filter((name) => pattern.test(name)))[0]
}

/** Paths relative to the directory, to show to people, those nearest to its top first; at most 5. */
export async function findDockerfiles(directory: string): Promise<string[]> {
  const found: string[] = []
  const folders = ['']
  let seen = 0
  for (const folder of folders) {
    // A name that is not UTF-8 cannot be opened by its text. Unreadable folders are skipped.
    const entries = await opendir(join(directory, folder)).catch(() => [])
    const names: string[] = []
    for await (const entry of entries) {
      if (++seen > maxEntries) return found
      const path = join(folder, entry.name)
      if (entry.isDirectory() && !skippedFolders.has(entry.name)) folders.push(path)
      else if (entry.isFile() && dockerfileName.test(entry.name)) names.push(path)
    }
    found.push(...names.sort().map((path) => path.replace(/\p{Cc}/gu, '?')))
    if (found.length >= maxFound) return found.slice(0, maxFound)
  }
  return found
}
