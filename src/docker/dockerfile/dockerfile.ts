// The instructions of a Dockerfile with their places in its text, as the frontend will read them.
// Bytes that are not ASCII may have any encoding: the text is decoded so that each byte is one character.
import { DockerfileParser, From, type Instruction, type JSONInstruction, type Onbuild } from 'dockerfile-ast'
import { Failure, messageOf } from '../../errors.ts'

export type { Instruction }

/** Those that will run: of `ONBUILD RUN` the `RUN`. Throws `build_failed` when the text cannot be parsed. */
export function stepsOf(text: string): Instruction[] {
  try {
    return DockerfileParser.parse(text.replace(/^\xEF\xBB\xBF/, '   '))
      .getInstructions()
      .map((instruction) => {
        const isTrigger = instruction.getKeyword() === 'ONBUILD'
        return (isTrigger ? (instruction as Onbuild).getTriggerInstruction() : null) ?? instruction
      })
  } catch (error) {
    throw new Failure('build_failed', `the Dockerfile cannot be read: ${messageOf(error)}`)
  }
}

/** The names of its stages, in their order. */
export function stagesOf(text: string): string[] {
  return stepsOf(text).flatMap((step) => (step instanceof From ? (step.getBuildStage() ?? []) : []))
}

/** The offsets in the text of the values of all flags with the given name. */
export function flagValues(instruction: Instruction, name: string, text: string): number[] {
  const lines = lineStarts(text)
  const flags = 'getFlags' in instruction ? (instruction as JSONInstruction).getFlags() : []
  return flags.flatMap((flag) => {
    const start = flag.getValueRange()?.start
    return start && flag.getName().toLowerCase() === name ? [lines[start.line]! + start.character] : []
  })
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '\n') starts.push(index + 1)
  }
  return starts
}
