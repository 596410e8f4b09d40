// What a language must tell.
import type { Facts } from '../facts.ts'
import type { Draft, Refusal, Wishes } from '../recipe.ts'
import type { Tree } from '../tree.ts'

export interface Language {
  /** The files that show it, as people know them. */
  evidence: string[]
  isHere(app: Tree): boolean
  draft(facts: Facts, wishes: Wishes): Draft | Refusal
}
