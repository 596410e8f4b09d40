// Copies a text. Pages on plain http have no clipboard: there the text is selected instead.
import { Check, Copy as CopyIcon } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'

interface CopyProps {
  text: string
  /** In words, for a text that is not shown; otherwise an icon. */
  label?: string
}

export function Copy({ text, label }: CopyProps) {
  const [state, setState] = useState<'ready' | 'copied' | 'by-hand'>('ready')
  const copy = () =>
    navigator.clipboard
      ? void navigator.clipboard.writeText(text).then(
          () => setState('copied'),
          () => setState('by-hand'),
        )
      : setState('by-hand')
  useEffect(() => {
    if (state !== 'copied') return
    const timer = setTimeout(() => setState('ready'), 2_000)
    return () => clearTimeout(timer)
  }, [state])
  if (state === 'by-hand') return <Selected text={text} />
  const Icon = state === 'copied' ? Check : CopyIcon
  return (
    <button
      type="button"
      data-kind={label ? 'small' : 'icon'}
      aria-label={label ?? `Copy ${text}`}
      title="Copy"
      onClick={copy}
    >
      <Icon size={16} aria-hidden="true" /> {label}
      <span role="status" className="hidden">
        {state === 'copied' && 'Copied'}
      </span>
    </button>
  )
}

function Selected({ text }: { text: string }) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current!.select(), [])
  return <textarea ref={field} readOnly rows={2} value={text} aria-label="Press Ctrl C to copy" />
}
