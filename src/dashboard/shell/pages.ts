// The pages that are always in reach.
import type { LinkProps } from '@tanstack/react-router'
import { Activity, Bell, BookOpen, Boxes, CircleUserRound, type LucideIcon, Workflow } from 'lucide-react'

interface PageEntry {
  to: NonNullable<LinkProps['to']>
  label: string
  icon: LucideIcon
  /** After `g`. */
  letter: string
}

export const pageEntries: PageEntry[] = [
  { to: '/services', label: 'Services', icon: Boxes, letter: 's' },
  { to: '/alerts', label: 'Alerts', icon: Bell, letter: 'w' },
  { to: '/activity', label: 'Activity', icon: Activity, letter: 'a' },
  { to: '/charts', label: 'Charts', icon: Workflow, letter: 'c' },
]

/** Plain pages, without a script. */
export const documents = [
  { href: '/docs', label: 'Manual', icon: BookOpen },
  { href: '/account', label: 'Account', icon: CircleUserRound },
]
