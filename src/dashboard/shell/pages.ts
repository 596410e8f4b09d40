// The pages that are always in reach.
import type { LinkProps } from '@tanstack/react-router'
import { BookOpen, Boxes, CircleUserRound, type LucideIcon } from 'lucide-react'

export interface PageEntry {
  to: NonNullable<LinkProps['to']>
  label: string
  icon: LucideIcon
  /** After `g`. */
  letter: string
}

export const pageEntries: PageEntry[] = [{ to: '/services', label: 'Services', icon: Boxes, letter: 's' }]

/** Plain pages, without a script. */
export const documents = [
  { href: '/docs', label: 'Manual', icon: BookOpen },
  { href: '/account', label: 'Account', icon: CircleUserRound },
]
