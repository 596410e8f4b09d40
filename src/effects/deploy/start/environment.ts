// The environment of an instance: the user's variables with references resolved, and Berth's own. Pure. An
// unknown reference fails the deploy with the variable's name, never with its value.
import type { PortSource } from '../../../../machines/deploy/deploy-context.ts'
import type { EnvVar } from '../../../../storage/env.ts'
import type { ServiceSettings } from '../../../../storage/services.ts'
import { replaceReferences } from '../../../domain/env-references.ts'
import { listens, sitePort } from '../../../domain/service-types.ts'
import { Failure } from '../../../errors.ts'

/** The value of `${{kind.NAME.PROP}}`; null if the object or the property does not exist. */
export type Lookup = (kind: string, name: string, property: string) => string | null

/** Throws `unresolved_reference`, naming the variable and the reference. */
export function resolveReferences(vars: EnvVar[], lookup: Lookup): EnvVar[] {
  return vars.map(({ key, value }) => ({ key, value: resolveValue(key, value, lookup) }))
}

function resolveValue(key: string, value: string, lookup: Lookup): string {
  return replaceReferences(value, (reference, text) => {
    const resolved = reference && lookup(reference.noun, reference.name, reference.property)
    if (resolved !== null) return resolved
    const problem = text.endsWith('}}') ? `refers to ${text}, which does not exist` : 'has an unclosed ${{'
    throw new Failure('unresolved_reference', `the variable ${key} ${problem}`).with({ variable: key })
  })
}

/** The user's variables take precedence over Berth's, and each key appears once. */
export function withDefaults(vars: EnvVar[], defaults: Record<string, string>): EnvVar[] {
  const own = new Set(vars.map(({ key }) => key))
  const added = Object.entries(defaults).filter(([key]) => !own.has(key))
  return [...vars, ...added.map(([key, value]) => ({ key, value }))]
}

export interface ChosenPort {
  port: number
  portSource: PortSource
}

type PortSettings = Pick<ServiceSettings, 'type' | 'port'>

/** 3000 is used until a port is detected. Throws `invalid_request` if PORT in the env is not usable. */
export function choosePort({ type, port }: PortSettings, vars: EnvVar[], exposed: number[]): ChosenPort {
  const envPort = portFromEnv(vars)
  if (port) return { port, portSource: 'setting' }
  if (/^\d{1,5}$/.test(envPort) && Number(envPort) > 0 && Number(envPort) < 65_536) {
    return { port: Number(envPort), portSource: 'env' }
  }
  if (envPort !== '' && listens({ type })) {
    throw new Failure('invalid_request', 'the variable PORT is not a port from 1 to 65535')
  }
  // The official nginx image exposes 80, too.
  const own = type === 'static_site' && exposed.includes(sitePort) ? [sitePort] : exposed
  if (own.length === 1) return { port: own[0]!, portSource: 'image' }
  return { port: 3000, portSource: 'default' }
}

/** An app must listen on the probed port, so PORT is that one. A service without a port keeps its own. */
export function withPort({ type }: PortSettings, vars: EnvVar[], port: number): EnvVar[] {
  if (!listens({ type })) return vars
  return vars.map((variable) => (variable.key === 'PORT' ? { ...variable, value: String(port) } : variable))
}

/** The warning about a PORT that is not used, or null. A value that is not a plain number may be a secret. */
export function unusedPort({ type, port }: PortSettings, vars: EnvVar[]): string | null {
  const envPort = portFromEnv(vars)
  if (!port || !listens({ type }) || envPort === '' || Number(envPort) === port) return null
  const ignored = /^\d{1,5}$/.test(envPort) ? `PORT=${envPort}` : 'the PORT'
  return `PORT is set to ${port}, the port of the service; ${ignored} in its env is ignored`
}

/** An empty value counts as not set. */
function portFromEnv(vars: EnvVar[]): string {
  return vars.find(({ key }) => key === 'PORT')?.value.trim() ?? ''
}
