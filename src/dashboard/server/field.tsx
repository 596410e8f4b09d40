// A field with its name, what helps to fill it in, and what is wrong with it.
import { type ComponentProps, type ReactNode, useId } from 'react'
import styles from './field.module.css'

interface Described {
  label: string
  help?: string | undefined
  /** Why the server refused what is in it. */
  error?: string | undefined
}

export function Field({ label, help, error, ...input }: Described & ComponentProps<'input'>) {
  return (
    <Labelled label={label} help={help} error={error}>
      {(about) => <input autoComplete="off" spellCheck={false} {...about} {...input} />}
    </Labelled>
  )
}

export function TextField({ label, help, error, ...area }: Described & ComponentProps<'textarea'>) {
  return (
    <Labelled label={label} help={help} error={error}>
      {(about) => <textarea autoComplete="off" spellCheck={false} {...about} {...area} />}
    </Labelled>
  )
}

interface LabelledProps extends Described {
  children(about: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }): ReactNode
}

function Labelled({ label, help, error, children }: LabelledProps) {
  const id = useId()
  const aboutId = useId()
  const isDescribed = help !== undefined || error !== undefined
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(isDescribed && { 'aria-describedby': aboutId }),
        ...(error && { 'aria-invalid': true }),
      })}
      {isDescribed && (
        <small id={aboutId}>
          {error && (
            <strong className={styles.error} role="alert">
              {error}
            </strong>
          )}
          {help}
        </small>
      )}
    </div>
  )
}

interface SelectProps {
  label: string
  options: [value: string, words: string][]
}

export function Select({ label, options, ...select }: SelectProps & ComponentProps<'select'>) {
  return (
    <label className={styles.field}>
      {label}
      <select {...select}>
        {options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}
