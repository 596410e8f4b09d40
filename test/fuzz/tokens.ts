// Placeholders in generated requests for values that only a run knows: a created service, a secret, a
// repository's address. Sequences are thus reproducible, and readable after shrinking.

/** The nth object of a noun in paths: `services`, `deploys`, `jobs`, `datastores`. */
export function nth(noun: string, index: number): string {
  return `⟦${noun} ${index}⟧`
}

/** The secret of this place; `encoded` for use in a URL. */
export function secret(place: string, form: 'plain' | 'encoded' = 'plain'): string {
  return `⟦secret-${form} ${place}⟧`
}

/** A named object of the environment, such as a repository. */
export function named(name: string): string {
  return `⟦named ${name}⟧`
}

export interface Meaning {
  nth(noun: string, index: number): string
  secret(place: string): string
  named(name: string): string
}

/** Replaces the placeholders in the text; `escaped` encodes the values for the surrounding format. */
export function spellOut(
  text: string,
  meaning: Meaning,
  escaped: (text: string) => string = (text) => text,
): string {
  return text.replace(/⟦([\w-]+) ([\w-]+)⟧/g, (_, kind: string, word: string) => {
    if (kind === 'secret-plain') return escaped(meaning.secret(word))
    if (kind === 'secret-encoded') return escaped(encodeURIComponent(meaning.secret(word)))
    return escaped(kind === 'named' ? meaning.named(word) : meaning.nth(kind, Number(word)))
  })
}
