// A choice of one value, or of all of them, which is the empty text.
interface ChoiceProps {
  label: string
  all: string
  value: string | undefined
  options: [value: string, words?: string][]
  onChoose: (value: string) => void
}

export function Choice({ label, all, value = '', options, onChoose }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      <option value="">{all}</option>
      {options.map(([option, words = option]) => (
        <option key={option} value={option}>
          {words}
        </option>
      ))}
    </select>
  )
}
