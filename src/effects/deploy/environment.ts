// The environment of an instance: the person's variables with references resolved, and Berth's own. Pure.
// Mind: an unknown reference fails the deploy with the variable's name, never with its value.
import type { EnvVar } from '../../../storage/env.ts'
import { Failure } from '../../errors.ts'
import { replaceReferences } from '../../references.ts'

/** What `${{kind.NAME.PROP}}` stands for; null when there is no such thing or property. */
export type Lookup = (kind: string, name: string, property: string) => string | null

/** Throws `unresolved_reference`, naming the variable and the reference. */
export function resolveReferences(vars: EnvVar[], lookup: Lookup): EnvVar[] {
  return vars.map(({ key, value }) => ({ key, value: resolveValue(key, value, lookup) }))
}

function resolveValue(key: string, value: string, lookup: Lookup): string {
  return replaceReferences(value, (reference, text) => {
    const found = reference && lookup(reference.noun, reference.name, reference.property)
    if (found !== null) return found
    const trouble = text.endsWith('}}') ? `refers to ${text}, which does not exist` : 'has an unclosed ${{'
    throw new Failure('unresolved_reference', `the variable ${key} ${trouble}`)
  })
}

/** The person's own variables win over Berth's, except that nothing is there twice. */
export function withDefaults(vars: EnvVar[], defaults: Record<string, string>): EnvVar[] {
  const own = new Set(vars.map(({ key }) => key))
  const added = Object.entries(defaults).filter(([key]) => !own.has(key))
  return [...vars, ...added.map(([key, value]) => ({ key, value }))]
}

/** The service's port, else PORT in the env, else the image's single exposed port, else 3000. */
export function choosePort(setting: number | null, vars: EnvVar[], exposed: number[]): number {
  const fromEnv = Number(vars.find(({ key }) => key === 'PORT')?.value)
  if (setting) return setting
  if (Number.isInteger(fromEnv) && fromEnv > 0 && fromEnv < 65_536) return fromEnv
  return exposed.length === 1 ? exposed[0]! : 3000
}
