// The settings of a service as flags. The server validates them; only values that are no numbers fail here.
import { InvalidArgumentError } from 'commander'
import { type Flag, type SettingName, serviceSettings, settingNames } from '../../domain/service-settings.ts'
import type { BerthCommand } from '../command.ts'

type Settings = Record<string, unknown>

type Parser = (text: string, former: unknown) => unknown

const parsers: Record<NonNullable<Flag['value']>, Parser> = {
  'whole number': parseWholeNumber,
  mebibytes: parseMebibytes,
  seconds: parseSeconds,
  number: parseNumber,
  'on or off': onOrOff,
  list: collect,
  pairs: collectPairs,
}

export function addSettingFlags(command: BerthCommand): BerthCommand {
  for (const { flags, help, value } of Object.values(serviceSettings).flatMap(({ flag }) => flag ?? [])) {
    if (value) command.option(flags, help, parsers[value])
    else command.option(flags, help)
  }
  return command
}

/** The specified settings, under their names in the API. */
export function parsedSettings(options: Settings): Settings {
  const specified = settingNames.flatMap((name) => {
    const { flag } = serviceSettings[name]
    return flag ? [[name, options[attributeOf(flag.flags)]] as const] : []
  })
  return Object.fromEntries(specified.filter(([, value]) => value !== undefined))
}

/** A setting is shown by the name of its flag, which has no unit. */
export function settingLabel(name: string): string {
  const flags = settingOf(name)?.flag?.flags ?? name
  return flags.replace(/^--/, '').split(' ')[0]!.replaceAll('-', ' ')
}

/** Whether all of them take effect without a restart. */
export function areImmediate(settings: Settings): boolean {
  return Object.keys(settings).every((name) => settingOf(name)?.takesEffect === 'immediately')
}

/** Whether one of them takes effect only at the next build or pull. */
export function requireDeploy(settings: Settings): boolean {
  return Object.keys(settings).some((name) => settingOf(name)?.takesEffect === 'at build')
}

function settingOf(name: string) {
  return settingNames.includes(name as SettingName) ? serviceSettings[name as SettingName] : null
}

/** At most nine digits, without a sign. */
export function parseWholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 0 or more.')
  return Number(text)
}

/** The same, but not 0: a number of instances. */
export function parsePositive(text: string): number {
  if (!/^0*[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError('It must be 1 or more; berth suspend stops all.')
  return Number(text)
}

const mebibytesPerUnit = { m: 1, g: 1024, t: 1024 * 1024 }
const secondsPerUnit = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `512`, `512m`, `512MiB`, `1.5g` */
export function parseMebibytes(text: string): number {
  const [, number, unit = 'm'] = /^(\d{1,9}(?:\.\d{1,3})?)(?:([mgt])(?:i?b)?)?$/i.exec(text) ?? []
  const mebibytes = Number(number) * mebibytesPerUnit[unit.toLowerCase() as keyof typeof mebibytesPerUnit]
  if (!Number.isInteger(mebibytes)) {
    throw new InvalidArgumentError('It must be a whole number of MiB, such as 512, 512m or 1.5g.')
  }
  return mebibytes
}

/** `90`, `90s`, `5m`, `1h` */
export function parseSeconds(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,9})([smhd])?$/i.exec(text) ?? []
  if (number === undefined) {
    throw new InvalidArgumentError('It must be a whole number of seconds, such as 90, 90s, 5m or 1h.')
  }
  return Number(number) * secondsPerUnit[unit.toLowerCase() as keyof typeof secondsPerUnit]
}

export function collect(text: string, previous: unknown): string[] {
  return [...(Array.isArray(previous) ? previous : []), text]
}

/** Collects the `KEY=value` pairs of a repeatable flag; an empty text adds none. */
function collectPairs(text: string, previous: unknown): Record<string, string> {
  const pairs = (previous ?? {}) as Record<string, string>
  if (text === '') return pairs
  const end = text.indexOf('=')
  if (end < 1) throw new InvalidArgumentError('It must be KEY=value.')
  return Object.fromEntries([...Object.entries(pairs), [text.slice(0, end), text.slice(end + 1)]])
}

export function onOrOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('It must be on or off.')
  return text === 'on'
}

export function parseNumber(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number, such as 0.5.')
  return Number(text)
}

/** `--build-env <key>` is kept as `buildEnv`. */
function attributeOf(flags: string): string {
  const [name = ''] = flags.replace(/^--/, '').split(' ')
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
