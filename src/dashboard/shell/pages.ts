// The pages that are always in reach.
import type { LinkProps } from '@tanstack/react-router'
import {
  Activity,
  Bell,
  BookOpen,
  Boxes,
  CircleUserRound,
  type LucideIcon,
  Server,
  Workflow,
} from 'lucide-react'

interface PageEntry {
  to: NonNullable<LinkProps['to']>
  label: string
  icon: LucideIcon
  /** After `g`. */
  letter: string
  /** On a phone it is under `More`. */
  isRare?: true
}

export const pageEntries: PageEntry[] = [
  { to: '/services', label: 'Services', icon: Boxes, letter: 's' },
  { to: '/alerts', label: 'Alerts', icon: Bell, letter: 'w' },
  { to: '/activity', label: 'Activity', icon: Activity, letter: 'a' },
  { to: '/charts', label: 'Charts', icon: Workflow, letter: 'c' },
  { to: '/server', label: 'Server', icon: Server, letter: 'e', isRare: true },
]

/** Plain pages, without a script. */
export const documents = [
  { href: '/docs', label: 'Manual', icon: BookOpen },
  { href: '/account', label: 'Account', icon: CircleUserRound },
]
