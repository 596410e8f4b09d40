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
export function interpolate(text: string, env: ReadonlyMap<string, string>): Interpolated {
  const unset: string[] = []
  let isPrivate = false
  const replace = (_: string, plain: string, braced: string, operator = '', operand = '') => {
    const name = plain ?? braced
    const value = env.get(name)
    const isSet = value !== undefined && !(value === '' && operator.startsWith(':'))
    if (operator.endsWith('+')) return isSet ? operand : ''
    isPrivate ||= isSet
    if (isSet) return value.replaceAll('$', dollar)
    if (!operator.endsWith('-')) unset.push(name)
    return operator.endsWith('-') ? operand : ''
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
