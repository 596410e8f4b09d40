// What a printed Dockerfile says, and what would be wrong in any of them.

export interface Instruction {
  keyword: string
  rest: string
}

interface Stage {
  name: string | undefined
  from: string
  instructions: Instruction[]
}

const keywords = new Set('FROM ARG COPY RUN ENV WORKDIR LABEL EXPOSE USER CMD'.split(' '))

/** Also reads files of others: continued lines are joined, comments left out. */
export function readInstructions(dockerfile: string): Instruction[] {
  const lines = dockerfile.replace(/\\\n/g, ' ').split('\n')
  const parts = lines.map((line) => /^([A-Z]+) +(.*)$/.exec(line.trim()))
  return parts.flatMap((part) => (part ? { keyword: part[1] ?? '', rest: part[2] ?? '' } : []))
}

function readStages(dockerfile: string): Stage[] {
  const stages: Stage[] = []
  for (const instruction of readInstructions(dockerfile)) {
    const { keyword, rest } = instruction
    const [from = '', , name] = rest.split(' ')
    if (keyword === 'FROM') stages.push({ from, name, instructions: [] })
    else stages.at(-1)?.instructions.push(instruction)
  }
  return stages
}

/** Rules for every Dockerfile of a recipe. Pages have no command. */
export function findFaults(dockerfile: string, { hasSite }: { hasSite: boolean }): string[] {
  const stages = readStages(dockerfile)
  return [
    ...(/^# *syntax/m.test(dockerfile) ? ['it has a syntax line'] : []),
    ...readInstructions(dockerfile)
      .filter(({ keyword }) => !keywords.has(keyword))
      .map(({ keyword }) => `${keyword} is no instruction of recipes`),
    ...stages.flatMap((stage, index) => findStageFaults(stage, stages.slice(0, index))),
    ...(hasSite ? [] : findEndFaults(stages.at(-1))),
  ]
}

function findStageFaults({ from, name, instructions }: Stage, earlier: Stage[]): string[] {
  const known = earlier.map((stage) => stage.name)
  const isThere = (image: string) =>
    known.includes(image) || image === 'scratch' || /[\w]:[\w.-]+$/.test(image)
  const sources = instructions.flatMap(({ rest }) => /^(?:--\S+ )*--from=(\S+)/.exec(rest)?.[1] ?? [])
  return [
    ...(known.includes(name) ? [`the stage ${name} is there twice`] : []),
    ...[from, ...sources].filter((image) => !isThere(image)).map((image) => `${image} is no stage`),
  ]
}

function findEndFaults(stage: Stage | undefined): string[] {
  const find = (keyword: string) => stage?.instructions.filter((one) => one.keyword === keyword) ?? []
  const commands = find('CMD').map(({ rest }) => rest)
  return [
    ...(commands.length === 1 && isJsonList(commands[0]) ? [] : [`CMD is ${commands.join(' and ')}`]),
    ...(/^(root|0)?(:|$)/.test(find('USER').at(-1)?.rest ?? '') ? ['it runs as root'] : []),
  ]
}

function isJsonList(text: string | undefined): boolean {
  return /^\[".*"\]$/.test(text ?? '') && Array.isArray(JSON.parse(text ?? ''))
}
