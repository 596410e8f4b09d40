// What is around every page.
import { Outlet, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { UpdateBar } from './connection.tsx'
import styles from './frame.module.css'
import { HeldBar } from './held.tsx'
import { pageEntries } from './pages.ts'
import { Rail } from './rail.tsx'
import { useShortcut } from './shortcuts.ts'

const loadPalette = () => import('./palette.tsx')
const Palette = lazy(async () => ({ default: (await loadPalette()).Palette }))
const ShortcutList = lazy(async () => ({ default: (await import('./shortcut-list.tsx')).ShortcutList }))

export function Frame() {
  const [open, setOpen] = useState<'palette' | 'shortcuts' | null>(null)
  usePaletteKey(() => setOpen('palette'))
  useShortcut('?', 'Show this list', () => setOpen('shortcuts'))
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#page">
        Skip to the page
      </a>
      <Rail onSearch={() => setOpen('palette')} onShortcuts={() => setOpen('shortcuts')} />
      {pageEntries.map((entry) => (
        <GoTo key={entry.letter} {...entry} />
      ))}
      <main id="page" className={styles.main}>
        <UpdateBar />
        <HeldBar />
        <Outlet />
      </main>
      <Suspense>
        {open === 'shortcuts' && <ShortcutList onClose={() => setOpen(null)} />}
        {open === 'palette' && <Palette onClose={() => setOpen(null)} />}
      </Suspense>
    </div>
  )
}

function GoTo({ to, label, letter }: (typeof pageEntries)[number]) {
  const navigate = useNavigate()
  useShortcut(`g ${letter}`, `Go to ${label}`, () => void navigate({ to }))
  return null
}

function usePaletteKey(open: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      open()
    }
    addEventListener('keydown', onKey)
    // It opens at once if it is there already.
    const idle = setTimeout(() => void loadPalette(), 2_000)
    return () => {
      removeEventListener('keydown', onKey)
      clearTimeout(idle)
    }
  })
}
