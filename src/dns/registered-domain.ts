// The registered domain of a host, as certificate authorities define it: one label below a public suffix.
// Names below a private suffix, such as github.io, belong to different owners: the suffix list has both.
import { getDomain } from 'tldts'

/** `example.co.uk` of `shop.example.co.uk`, and of a wildcard; the host itself without a known suffix. */
export function registeredDomainOf(host: string): string {
  const name = host.replace(/^\*\./, '')
  return getDomain(name, { allowPrivateDomains: true }) ?? name
}
