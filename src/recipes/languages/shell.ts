// A script that starts whatever it wants.
import { listens } from '../../domain/service-types.ts'
import type { Facts } from '../facts.ts'
import {
  appUser,
  copy,
  type Draft,
  env,
  run,
  start,
  toChoice,
  user,
  type Wishes,
  workdir,
} from '../recipe.ts'
import { installPackages } from './debian.ts'
import type { Language } from './language.ts'

const scripts = ['start.sh', 'run.sh']
const present = ['bash', 'sh', 'dash']

export const shell: Language = {
  evidence: scripts,
  isHere: (app) => app.first(...scripts) !== null,
  draft,
}

function draft({ app }: Facts, wishes: Wishes): Draft {
  const script = app.first(...scripts) ?? ''
  // Whether it may be executed is lost in some uploads, so its shell is started.
  const [, program = 'bash'] = /^#!.*\b(bash|sh|dash|zsh|ksh|fish)\b/.exec(app.text(script)) ?? []
  const runs = wishes.start ?? { command: `${program} ${script}`, reason: `${script} is there` }
  return {
    title: 'A shell script',
    choices: [wishes.build, runs].flatMap(toChoice),
    stages: [
      {
        name: 'app',
        from: 'debian:bookworm-slim',
        steps: [
          ...installPackages(present.includes(program) ? [] : [program]),
          copy(['.'], '/app', appUser),
          workdir('/app'),
          env({ HOME: '/app' }),
          ...(wishes.build ? [run(wishes.build.command, { secrets: wishes.env })] : []),
          user,
          start(runs.command),
        ],
      },
    ],
    port: listens(wishes) ? 8080 : null,
  }
}
