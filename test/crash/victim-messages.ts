// What a run in a namespace told, line by line: words, and at the end its outcome, or why there is none.

export function readVictimMessages<Outcome>(lines: string[], say: (line: string) => void): Outcome {
  let outcome: Outcome | null = null
  for (const line of lines) {
    const told = JSON.parse(line)
    if (told.failure) throw new Error(told.failure)
    if (told.said) say(told.said)
    outcome = told.outcome ?? outcome
  }
  if (outcome === null) throw new Error(`the run ended without an outcome: ${lines.slice(-3).join('\n')}`)
  return outcome
}
