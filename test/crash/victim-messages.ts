// Reads the JSON lines of a run in a namespace: log lines, and finally its outcome or failure.

export function readVictimMessages<Outcome>(lines: string[], log: (line: string) => void): Outcome {
  let outcome: Outcome | null = null
  for (const line of lines) {
    const message = JSON.parse(line)
    if (message.failure) throw new Error(message.failure)
    if (message.said) log(message.said)
    outcome = message.outcome ?? outcome
  }
  if (outcome === null) throw new Error(`the run ended without an outcome: ${lines.slice(-3).join('\n')}`)
  return outcome
}
