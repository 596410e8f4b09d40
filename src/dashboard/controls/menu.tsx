// A button with more actions behind it. The native popover closes with Esc and with a click elsewhere.
import { type ReactNode, useId, useRef } from 'react'
import styles from './menu.module.css'

export function Menu({ label, children }: { label: string; children: ReactNode }) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  return (
    <>
      <button ref={button} type="button" popoverTarget={id}>
        {label}
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a key on a button inside is a click. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only closes after a press inside. */}
      <div
        id={id}
        popover="auto"
        className={styles.menu}
        onBeforeToggle={({ currentTarget }) => placeBelow(button.current!, currentTarget)}
        onClick={({ currentTarget }) => currentTarget.hidePopover()}
      >
        {children}
      </div>
    </>
  )
}

function placeBelow(button: HTMLElement, menu: HTMLElement): void {
  const { bottom, right } = button.getBoundingClientRect()
  menu.style.top = `${bottom + 4}px`
  menu.style.right = `${Math.max(8, document.documentElement.clientWidth - right)}px`
}
