// A question above the page. The native element keeps the focus inside, closes with Esc, and gives the focus
// back. It is open for as long as it is rendered.
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import styles from './dialog.module.css'

interface DialogProps {
  title: string
  children: ReactNode
  /** The buttons that do something; next to the one that does nothing. */
  actions?: ReactNode
  /** What Enter, Esc and a click outside of the dialog do. */
  onClose(): void
  /** The label of the harmless button. */
  closeLabel?: string
}

export function Dialog({ title, children, actions, onClose, closeLabel = 'Cancel' }: DialogProps) {
  const titleId = useId()
  return (
    <Modal labelledBy={titleId} onClose={onClose}>
      {/* Enter submits: the only button of a form that submits is the harmless one. */}
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          onClose()
        }}
      >
        <h2 id={titleId}>{title}</h2>
        <div className={styles.body}>{children}</div>
        <p className={styles.actions}>
          <button type="submit" data-first>
            {closeLabel}
          </button>
          {actions}
        </p>
      </form>
    </Modal>
  )
}

interface ModalProps {
  labelledBy?: string
  label?: string
  children: ReactNode
  onClose(): void
}

/** The frame without a title. The first field with `data-first` has the focus. */
export function Modal({ labelledBy, label, children, onClose }: ModalProps) {
  const element = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = element.current!
    dialog.showModal()
    dialog.querySelector<HTMLElement>('[data-first]')?.focus()
    // An element that is removed while it is open keeps the focus for itself.
    return () => dialog.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard has Esc.
    <dialog
      ref={element}
      className={styles.dialog}
      aria-labelledby={labelledBy}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={({ target }) => target === element.current && onClose()}
    >
      {children}
    </dialog>
  )
}
