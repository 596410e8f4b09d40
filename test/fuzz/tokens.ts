// Words in what is generated that stand for something only a run knows: a service it made, a secret, the
// address of a repository. So a sequence means the same in every run, and a shrunk one can be read.

/** The nth of the things of a noun, as paths name them: `services`, `deploys`, `jobs`, `datastores`. */
export function nth(noun: string, index: number): string {
  return `⟦${noun} ${index}⟧`
}

/** A secret of this place; `encoded` for within a URL. */
export function secret(place: string, form: 'plain' | 'encoded' = 'plain'): string {
  return `⟦secret-${form} ${place}⟧`
}

/** A thing of the world by its name, such as a repository. */
export function named(name: string): string {
  return `⟦named ${name}⟧`
}

export interface Meaning {
  nth(noun: string, index: number): string
  secret(place: string): string
  named(name: string): string
}

/** The text with its words replaced; `escaped` fits what they stand for into what is around them. */
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
