// The address of a repository, as the server has accepted it.

interface Place {
  host: string
  /** `ada/shop` */
  path: string
}

/** Null for a path of the server. */
export function placeOf(address: string): Place | null {
  if (address.startsWith('/')) return null
  const url = address.includes('://') ? address : `ssh://${address.replace(':', '/')}`
  const { hostname, pathname } = new URL(url)
  return { host: hostname.toLowerCase(), path: pathname.replace(/^\/+/, '').replace(/(?:\.git)?\/*$/, '') }
}

export function isSsh(address: string): boolean {
  return !/^(?:https?:\/\/|\/)/i.test(address)
}
