/** The outermost state: `running` while the actor is in `running.building`. */
export function rootState({ value }: { value: string | object }): string {
  return typeof value === 'string' ? value : Object.keys(value)[0]!
}
