// The lock file, which npm reads strictly: what is missing in it stops every `npm ci`.
import type { Rule } from './tree.ts'

interface Locked {
  optionalDependencies?: Record<string, string>
}

/**
 * If a registry does not have a package for another platform, npm omits it and later refuses the lock file.
 */
export const lockIsWhole: Rule = (tree) => {
  const { packages = {} }: { packages?: Record<string, Locked> } = JSON.parse(
    tree.get('package-lock.json') ?? '{}',
  )
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`])
      .map((name) => ({ path: 'package-lock.json', line: 1, text: `lacks ${name}, which ${path} may want` })),
  )
}
