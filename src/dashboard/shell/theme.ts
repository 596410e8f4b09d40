// Light, dark, or as the system. The server reads the cookie, so that a page begins in its theme.
import { useState } from 'react'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const yearSeconds = 31_536_000

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(shownTheme)
  return [
    theme,
    (next) => {
      // biome-ignore lint/suspicious/noDocumentCookie: pages on plain http have no cookie store.
      document.cookie = `berth_theme=${next}; Path=/; SameSite=Strict; Max-Age=${yearSeconds}`
      document.documentElement.dataset.theme = next
      setTheme(next)
    },
  ]
}

function shownTheme(): Theme {
  const { theme } = document.documentElement.dataset
  return themes.find((known) => known === theme) ?? 'system'
}
