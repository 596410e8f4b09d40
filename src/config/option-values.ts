// Parsers for option values. Their messages lack the option's name, which the caller prepends.
import { isIP, isIPv4 } from 'node:net'
import { isLoopbackHost } from '../address-classes.ts'
import { parseSchedule } from '../domain/schedule.ts'

export interface Option<T> {
  help: string
  fallback: string
  /** The value of the option is optional. */
  isFlag?: true
  parse(text: string): T
}

export const text = (pattern: RegExp, what: string) => (value: string) => {
  if (!pattern.test(value)) throw new Error(`is not ${what}`)
  return value
}
export const integer = (least: number, most: number) => (value: string) => {
  const number = Number(value)
  if (!/^\d+$/.test(value) || number < least || number > most) {
    throw new Error(`is not a whole number from ${least} to ${most}`)
  }
  return number
}
export const orZero = (parse: (value: string) => number) => (value: string) => {
  if (value === '0') return 0
  try {
    return parse(value)
  } catch (error) {
    throw new Error(`${(error as Error).message}, or 0`)
  }
}
export const oneOf =
  <T extends string>(...words: T[]) =>
  (value: string) => {
    if (!(words as string[]).includes(value)) throw new Error(`is not one of ${words.join(', ')}`)
    return value as T
  }
export const cpus = (value: string) => {
  const number = Number(value)
  if (!/^\d+(\.\d+)?$/.test(value) || number < 0.01 || number > 512)
    throw new Error('is not a number from 0.01 to 512')
  return number
}
export const option = <T>(help: string, fallback: string, parse: (value: string) => T): Option<T> => ({
  help,
  fallback,
  parse,
})

/** Off by default. Its environment variable takes a value such as `yes` or `no`. */
export const flag = (help: string): Option<boolean> => ({
  help,
  fallback: 'no',
  isFlag: true,
  parse: (value) =>
    ['1', 'true', 'yes', 'on'].includes(oneOf('1', 'true', 'yes', 'on', '0', 'false', 'no', 'off')(value)),
})

/** Accepts an empty text for none. */
export const cronSchedule = (value: string) => {
  if (value === '' || parseSchedule(value) !== null) return value
  throw new Error('is not a cron schedule, as 0 3 * * *')
}

export const listenAddress = (value: string) => {
  const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]]+):(\d{1,5})$/.exec(value) ?? []
  if (!host || Number(port) > 65_535) throw new Error('is not HOST:PORT (an IPv6 address in brackets)')
  return value.toLowerCase()
}
export const loopbackAddress = (value: string) => {
  if (value === '') return value
  const address = listenAddress(value)
  if (!isLoopbackHost(address.slice(0, address.lastIndexOf(':'))))
    throw new Error('is not a loopback address')
  return address
}
export const network = (value: string) => {
  if (!value.endsWith('/16') || isIPv4(value.slice(0, -3)) === false) throw new Error('is not a /16 network')
  return value
}

export const address = (value: string) => {
  if (isIP(value) === 0) throw new Error('is not an IP address')
  return value
}
const parts = (value: string) =>
  value
    .trim()
    .split(/\s*,\s*/)
    .filter((part) => part !== '')
export const ports = (value: string) => parts(value).map(integer(1, 65_535))
export const portRange = (value: string) => {
  const [, first, last] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(value) ?? []
  const range = { first: Number(first), last: Number(last ?? first) }
  if (!first || range.first < 1 || range.last > 65_535 || range.last < range.first) {
    throw new Error('is not a range of ports, as 25000-25999')
  }
  return range
}

type DnsSettings = { kind: 'hook'; path: string } | { kind: 'cloudflare' }

/** Accepts an empty text for no value. */
export const dnsSettings = (value: string): DnsSettings | '' => {
  if (value === '') return ''
  if (value === 'cloudflare') return { kind: 'cloudflare' }
  const [, path] = /^hook:(\/.+)$/.exec(value) ?? []
  if (path) return { kind: 'hook', path }
  throw new Error('is not hook:/PATH or cloudflare')
}

/** A host name or an address, as in a URL but without brackets. */
const hostPattern = /^[a-z0-9:]([a-z0-9.:_-]*[a-z0-9])?$/

export const addresses = (value: string) => {
  const list = parts(value)
  if (!list.every(isAddressOrNetwork)) throw new Error('is not a list of addresses or networks')
  return list
}

export const directories = (value: string) => {
  const list = parts(value)
  if (!list.every((part) => part.startsWith('/'))) throw new Error('is not a list of absolute paths')
  return list
}

export const hostNames = (value: string) => {
  const list = parts(value.toLowerCase())
  if (!list.every((part) => hostPattern.test(part)))
    throw new Error('is not a list of host names without ports')
  return list
}

export const origins = (value: string) => {
  const list = parts(value.toLowerCase())
  if (!list.every((part) => /^https?:\/\/[^\s/]+$/.test(part)))
    throw new Error('is not a list of origins, as https://example.com')
  return list
}

function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}
