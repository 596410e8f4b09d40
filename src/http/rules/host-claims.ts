// Checks that no host of a service belongs to the server itself or to another service. Must run in the
// transaction that commits the row, so that only one of several concurrent requests gets a host.
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { defaultHost, isPublicType } from '../../domain/domains.ts'
import { conflict } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'

type Context = Pick<HttpContext, 'config' | 'storage'>

/** Throws `conflict` with the host and its owner. `former` is null for a new service. */
export function assertHostsFree(context: Context, row: ServiceRow, previous: ServiceRow | null): void {
  if (!isPublicType(row.type)) return
  if (!previous) assertDefaultHostFree(context, row)
  for (const domain of row.custom_domains) {
    if (!previous?.custom_domains.includes(domain)) assertDomainFree(context, row, domain)
  }
}

function assertDefaultHostFree({ config, storage }: Context, { name }: ServiceRow): void {
  const host = defaultHost(name, config.baseDomain)
  if (host === config.edge.dashboardHost) {
    throw conflict(`${host} is the address of this server`, 'choose another name')
  }
  const holder = holderOf(storage, host)
  if (holder === null) return
  throw conflict(
    `${host}, the address of a service of this name, is a domain of ${holder}`,
    `choose another name, or remove the domain: berth domains rm ${holder} ${host}`,
  )
}

function assertDomainFree({ config, storage }: Context, { name }: ServiceRow, domain: string): void {
  if (domain === config.edge.dashboardHost) {
    throw conflict(`${domain} is the address of this server`, 'choose another domain')
  }
  if (domain === defaultHost(name, config.baseDomain)) {
    throw conflict(`${domain} is already the default address of ${name}`, 'omit it')
  }
  const named = serviceAt(storage, domain, config.baseDomain)
  if (named !== null) {
    throw conflict(`${domain} is the address of the service ${named}`, 'choose another domain')
  }
  const holder = holderOf(storage, domain)
  if (holder === null) return
  const hint = `remove it there first: berth domains rm ${holder} ${domain}`
  throw conflict(`${domain} is a domain of ${holder}`, hint)
}

function holderOf({ services }: Storage, domain: string): string | null {
  const id = services.holderOf(domain)
  return id && (services.get(id)?.name ?? id)
}

function serviceAt({ services }: Storage, domain: string, baseDomain: string): string | null {
  if (!domain.endsWith(`.${baseDomain}`)) return null
  const name = domain.slice(0, -baseDomain.length - 1)
  const record = services.get(name)
  return record?.name === name && isPublicType(record.type) ? name : null
}
