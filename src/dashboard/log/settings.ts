// How this reader likes logs: kept in the browser.
import { useState } from 'react'

export interface Settings {
  isWrapped: boolean
  hasTimes: boolean
}

const key = 'berth.log'

export function useSettings(): [Settings, (change: Partial<Settings>) => void] {
  const [settings, setSettings] = useState(readSettings)
  return [
    settings,
    (change) => {
      const next = { ...settings, ...change }
      setSettings(next)
      localStorage.setItem(key, JSON.stringify(next))
    },
  ]
}

function readSettings(): Settings {
  const standard = { isWrapped: true, hasTimes: matchMedia('(min-width: 760px)').matches }
  try {
    return { ...standard, ...JSON.parse(localStorage.getItem(key) ?? '{}') }
  } catch {
    return standard
  }
}
