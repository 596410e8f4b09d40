// The lines that the reader has selected: those in the address, or all of them.
import { useEffect, useRef, useState } from 'react'
import type { Line } from './lines.ts'
import { everything, extended, type Selection, toHash } from './selection.ts'

export interface SelectedLines {
  lines: Selection | null
  add(number: number, isExtended: boolean): void
  addAll(): void
  clear(): void
  countIn(lines: readonly Line[]): number
}

/** `onNamed` is called when an address that the reader opens names other lines. */
export function useSelectedLines(
  named: Selection | null,
  select: (selection: Selection | null) => void,
  onNamed: (number: number) => void,
): SelectedLines {
  const [isAll, setAll] = useState(false)
  const hash = named ? toHash(named) : ''
  const known = useRef(hash)
  useEffect(() => {
    if (named && hash !== known.current) onNamed(named.first)
    known.current = hash
  })
  const lines = isAll ? everything : named

  function choose(next: Selection | null): void {
    setAll(false)
    known.current = next ? toHash(next) : ''
    select(next)
  }
  return {
    lines,
    add: (number, isExtended) =>
      choose(isExtended ? extended(named, number) : { first: number, last: number }),
    addAll: () => setAll(true),
    clear: () => choose(null),
    countIn: (all) =>
      lines ? all.filter(({ number }) => number >= lines.first && number <= lines.last).length : 0,
  }
}
