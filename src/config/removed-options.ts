// Options, and values of options, that earlier versions had. A start ignores them with a warning, because a
// server must not stay down after an update.

export interface RemovedOption {
  name: string
  /** The values that no longer exist; without it, the whole option. */
  value?: RegExp
  /** What to use, or what happens, instead. */
  instead: string
}

export const removedOptions: RemovedOption[] = [
  {
    name: 'take-over-prefix',
    instead: 'start with a copy of the data directory (docs/moving.md), or choose another --prefix',
  },
  { name: 'acme-weekly-limit', instead: 'an order waits as long as the certificate authority asks' },
  {
    name: 'acme-dns',
    value: /^rfc2136:/,
    instead: 'use --acme-dns hook:/PROGRAM with nsupdate, as docs/certificates.md shows',
  },
]

export function isRemoved(name: string, value: string): boolean {
  return removedOptions.some((option) => option.name === name && (option.value?.test(value) ?? true))
}
