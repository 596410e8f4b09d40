// What the variables of a Dockerfile stand for, as far as it and the build's arguments tell. The env of a
// base image is not known here.
import type { Arg, Env, From } from 'dockerfile-ast'
import type { Step } from './dockerfile.ts'

export type Variables = ReadonlyMap<string, string>

/** Each step with the variables that hold where it stands. */
export function* withVariables(steps: Step[], buildArgs: Record<string, string>) {
  const globals = new Map<string, string>()
  const stages = new Map<string, Scope>()
  let scope: Scope | null = null
  for (const step of steps) {
    const { instruction } = step
    const keyword = instruction.getKeyword()
    if (keyword === 'FROM') {
      const from = instruction as From
      const base: Scope | undefined = stages.get((from.getImage() ?? '').toLowerCase())
      scope = { args: new Map(), env: new Map(base?.env) }
      stages.set((from.getBuildStage() ?? '').toLowerCase(), scope)
    }
    const variables = merged(scope, globals)
    yield { ...step, variables }
    if (keyword === 'ARG') declare(instruction as Arg, { scope, globals, variables, buildArgs })
    if (keyword === 'ENV' && scope) {
      for (const property of (instruction as Env).getProperties()) {
        const value = expand(property.getUnescapedValue() ?? '', variables)
        scope.env.set(property.getName(), value)
      }
    }
  }
}

interface Scope {
  args: Map<string, string>
  env: Map<string, string>
}

interface Declaration {
  scope: Scope | null
  globals: Map<string, string>
  variables: Variables
  buildArgs: Record<string, string>
}

// An argument before the first stage is no variable of a stage until the stage declares it.
function merged(scope: Scope | null, globals: Variables): Variables {
  return scope === null ? globals : new Map([...scope.args, ...scope.env])
}

function declare(instruction: Arg, { scope, globals, variables, buildArgs }: Declaration): void {
  for (const property of instruction.getProperties()) {
    const name = property.getName()
    const given = Object.hasOwn(buildArgs, name) ? buildArgs[name] : undefined
    const written = property.getUnescapedValue()
    const value = given ?? (written === null ? globals.get(name) : expand(written, variables))
    if (value !== undefined) (scope?.args ?? globals).set(name, value)
  }
}

const pattern = /'([^']*)'|\\(.)|\$(\w+)|\$\{(\w+)(?:(:?[-+])([^}]*))?\}|["']/gs

/** A word as the frontend expands it, without quotes and escapes. An unknown variable stays as written. */
export function expand(word: string, variables: Variables): string {
  return word.replace(pattern, (all, literal, escaped, plain, braced, operator, other) => {
    if (literal !== undefined) return literal
    if (escaped !== undefined) return escaped
    const name = plain ?? braced
    if (name === undefined) return ''
    const value = variables.get(name)
    const isSet = value !== undefined && (value !== '' || !operator?.startsWith(':'))
    if (operator?.endsWith('-')) return isSet ? value : expand(other, variables)
    if (operator?.endsWith('+')) return isSet ? expand(other, variables) : ''
    return value ?? all
  })
}
