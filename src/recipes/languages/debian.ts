// Packages of Debian, which the official images are made of.
import { run, type Step } from '../recipe.ts'

export function installPackages(packages: string[]): Step[] {
  const names = [...new Set(packages)].sort().join(' ')
  if (names === '') return []
  const clean = 'rm -rf /var/lib/apt/lists/*'
  return [run(`apt-get update && apt-get install -y --no-install-recommends ${names} && ${clean}`)]
}
