// The lock file, which npm reads strictly: what is missing in it stops every `npm ci`.
import type { Rule } from './tree.ts'

interface Locked {
  optionalDependencies?: Record<string, string>
}

/** A registry that lacks a package for another platform makes npm leave it out, and refuse the lock later. */
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
