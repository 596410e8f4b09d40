// `${VAR}` in the values of a Compose file, by the rules of Compose, from the .env next to it.

export interface Interpolated {
  text: string
  /** Whether a part of it comes from .env. */
  isPrivate: boolean
  /** Variables that have neither a value nor a default. */
  unset: string[]
}

/** `$VAR`, or `${VAR…}` without braces inside. */
const pattern = /\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)(?:(:?[-?+])([^{}]*))?\}/g
/** In place of a dollar that stays one. */
const dollar = '\0'

/** `:` counts an empty value as none; `-` gives a default, `+` a replacement, `?` an error message. */
export function interpolate(
  text: string,
  env: ReadonlyMap<string, string>,
  unsetText = (_: string) => '',
): Interpolated {
  const unset: string[] = []
  let isPrivate = false
  const replace = (_: string, plain: string, braced: string, operator = '', operand = '') => {
    const name = plain ?? braced
    const value = env.get(name)
    const isSet = isGiven(value, operator)
    if (operator.endsWith('+')) return isSet ? operand : ''
    isPrivate ||= isSet
    if (isSet) return value.replaceAll('$', dollar)
    if (operator.endsWith('-')) return operand
    unset.push(name)
    return unsetText(name).replaceAll('$', dollar)
  }
  let before = ''
  let after = text.replaceAll('$$', dollar)
  // A default may have variables of its own: inner ones first.
  while (before !== after) {
    before = after
    after = before.replace(pattern, replace)
  }
  return { text: after.replaceAll(dollar, '$'), isPrivate, unset }
}

/** `$VAR` or `${VAR…}` and nothing else. */
const whole = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?([-?])([^{}]*|\$\{.*\}))?\})$/s

/** The variable that a text is as a whole; of one without a value, the one that is its default. */
export function variableIn(text: string, env: ReadonlyMap<string, string>): string | null {
  const [, plain, braced, operator, operand = ''] = whole.exec(text) ?? []
  const name = plain ?? braced ?? null
  if (name === null || !operand.startsWith('$')) return name
  return operator === '-' && !env.get(name) ? variableIn(operand, env) : name
}

function isGiven(value: string | undefined, operator: string): value is string {
  return value !== undefined && !(value === '' && operator.startsWith(':'))
}

/** Values of an env file may name others of it, and those of .env. */
export function expandEnv(
  variables: { key: string; value: string }[],
  env: ReadonlyMap<string, string> = new Map(),
): Map<string, string> {
  const known = new Map(env)
  const expanded = variables.map(({ key, value }) => {
    const text = value.replace(/\$\{([A-Za-z_]\w*)\}/g, (all, name: string) => known.get(name) ?? all)
    known.set(key, text)
    return [key, text] as const
  })
  return new Map(expanded)
}
