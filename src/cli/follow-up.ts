// What a command says at its end: that it is done, how to undo it, and the deploy it has set off.
import type { Deploy } from '../http/schemas/deploy.ts'
import type { Cli } from './session.ts'
import { plain } from './terminal/output.ts'
import { nextStep } from './terminal/phase-line.ts'

/** `✔ shop is scaled to 3`, on stderr. */
export function sayDone({ out }: Cli, words: string): void {
  out.say(` ${out.tint('green', '✔')} ${plain(words)}`)
}

/** `   undo: berth scale shop 2` */
export function sayUndo({ out }: Cli, command: string): void {
  out.say(nextStep(out, 'undo', command))
}

/** `   next: berth up shop` */
export function sayNext({ out }: Cli, command: string): void {
  out.say(nextStep(out, 'next', command))
}

/** Shows the deploy until it is over; with --no-follow only says which it is. Returns the exit code. */
export async function followUp(cli: Cli, deploy: Deploy, isFollowed: boolean): Promise<number> {
  if (isFollowed) {
    const { concludeDeploy, followDeploy } = await import('./deploy/follow.ts')
    return concludeDeploy(cli, await followDeploy(cli, deploy.id))
  }
  if (cli.out.isJson) cli.out.json(deploy)
  else cli.out.print(plain(deploy.id))
  sayNext(cli, `berth logs --deploy ${deploy.id} -f`)
  return 0
}
