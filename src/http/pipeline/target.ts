// Groups routes by path, because uWS matches paths and the dispatcher matches methods.
import type { Route } from './route.ts'

export interface Target {
  path: string
  paramNames: readonly string[]
  routes: ReadonlyMap<string, Route>
  allow: string
  isPublic: boolean
  isPage: boolean
}

/** GET also handles HEAD, unless the response is a stream or a file. */
export function supportsHead({ method, response }: Route): boolean {
  return method === 'GET' && response !== 'stream' && response !== 'bytes'
}

export function groupByPath(routes: readonly Route[]): Map<string, Target> {
  const targets = new Map<string, Target>()
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path)
    const byMethod = new Map<string, Route>(here.map((route) => [route.method, route]))
    const get = byMethod.get('GET')
    if (get && supportsHead(get)) byMethod.set('HEAD', get)
    const allow = [...byMethod.keys(), 'OPTIONS'].join(', ')
    const paramNames = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
    const isPublic = here.every((route) => route.credential === 'public')
    const isPage = here.some((route) => route.isPage)
    targets.set(path, { path, paramNames, routes: byMethod, allow, isPublic, isPage })
  }
  return targets
}
