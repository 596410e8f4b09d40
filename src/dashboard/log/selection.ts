// The lines that a reader has selected. They are in the address, so that it leads to them: `#L240-260`.
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { plainText } from './ansi.ts'
import type { Line } from './lines.ts'

export interface Selection {
  first: number
  last: number
}

export const everything: Selection = { first: 0, last: Number.POSITIVE_INFINITY }

export function parseSelection(hash: string): Selection | null {
  const [, first, last = first] = /^#?L(\d{1,12})(?:-L?(\d{1,12}))?$/.exec(hash) ?? []
  if (first === undefined) return null
  const ends = [Number(first), Number(last)]
  return { first: Math.min(...ends), last: Math.max(...ends) }
}

export function toHash({ first, last }: Selection): string {
  return first === last ? `L${first}` : `L${first}-${last}`
}

/** Up to the line that was clicked with the shift key. */
export function extended(selection: Selection | null, number: number): Selection {
  if (!selection || selection.first === 0) return { first: number, last: number }
  const { first, last } = selection
  return number < first ? { first: number, last } : { first, last: number }
}

/** Lines as text, without their numbers and colors. */
export function textOf(lines: readonly Line[], { first, last }: Selection): string {
  return lines
    .filter(({ number }) => number >= first && number <= last)
    .map(({ text }) => plainText(text))
    .join('\n')
}

export function useSelection(): [Selection | null, (selection: Selection | null) => void] {
  const hash = useLocation({ select: (location) => location.hash })
  const navigate = useNavigate()
  const selection = useMemo(() => parseSelection(hash), [hash])
  return [
    selection,
    (next) =>
      void navigate({
        to: '.',
        search: true,
        hash: next ? toHash(next) : '',
        replace: true,
        resetScroll: false,
        hashScrollIntoView: false,
      }),
  ]
}
