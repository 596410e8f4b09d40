// A button with more behind it. The native popover closes with Esc and with a click elsewhere.
import { type ReactNode, useId, useRef } from 'react'
import styles from './menu.module.css'

interface MenuProps {
  label: ReactNode
  /** If the label is a sign. */
  name?: string
  className?: string | undefined
  /** A press of a button or a link with `data-closes` closes it. */
  children: ReactNode
}

export function Menu({ label, name, className, children }: MenuProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  return (
    <>
      <button ref={button} type="button" className={className} aria-label={name} popoverTarget={id}>
        {label}
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a key on a button inside is a click. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only closes after a press inside. */}
      <div
        id={id}
        popover="auto"
        className={styles.menu}
        onToggle={({ currentTarget }) => place(currentTarget, button.current!)}
        onClick={({ currentTarget, target }) =>
          (target as Element).closest('[data-closes]') && currentTarget.hidePopover()
        }
      >
        {children}
      </div>
    </>
  )
}

const gap = 4

/** Below the button, or above it near the end of the window. */
function place(menu: HTMLElement, button: HTMLElement): void {
  const { clientWidth, clientHeight } = document.documentElement
  const { top, bottom, left, right } = button.getBoundingClientRect()
  const isLow = bottom + menu.offsetHeight + gap > clientHeight
  const isRight = left + menu.offsetWidth > clientWidth
  menu.style.top = `${isLow ? top - menu.offsetHeight - gap : bottom + gap}px`
  menu.style.left = `${isRight ? Math.max(gap, right - menu.offsetWidth) : left}px`
}
