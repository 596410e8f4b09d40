// Every key of the present page.
import { useState } from 'react'
import { Dialog } from '../controls/dialog.tsx'
import styles from './frame.module.css'
import { searchKeys } from './rail.tsx'
import { currentShortcuts, useShortcutsSwitch } from './shortcuts.ts'

export function ShortcutList({ onClose }: { onClose(): void }) {
  const [shortcuts] = useState(currentShortcuts)
  const [isOn, turn] = useShortcutsSwitch()
  return (
    <Dialog title="Keyboard shortcuts" closeLabel="Close" onClose={onClose}>
      <dl className={styles.shortcuts}>
        <Row keys={searchKeys} label="Search and act" />
        {shortcuts.map(({ keys, label }) => (
          <Row key={keys} keys={keys} label={label} />
        ))}
      </dl>
      <label>
        <input type="checkbox" checked={isOn} onChange={({ target }) => turn(target.checked)} /> Single-key
        shortcuts
      </label>
    </Dialog>
  )
}

function Row({ keys, label }: { keys: string; label: string }) {
  return (
    <div>
      <dt>
        {keys.split(' ').map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{label}</dd>
    </div>
  )
}
