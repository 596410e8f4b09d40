// What a daemon was asked while something failed, and what it said: what it acknowledged must be there for
// good.
import assert from 'node:assert/strict'
import type { Answer, Api, Body } from './api.ts'

export interface Asked {
  name: string
  /** null when the daemon ended before it answered. */
  answer: Answer | null
}

let count = 0

/** Asks for so many services at once. */
export function askForServices(api: Api, wanted: number): Promise<Asked[]> {
  return Promise.all(
    Array.from({ length: wanted }, async () => {
      const name = `asked-${process.pid}-${++count}`
      const answer = await api.call('POST', '/services', { name, type: 'web_service' }).catch(() => null)
      return { name, answer }
    }),
  )
}

/** Whether all were told the same, in the only two ways there are. */
export function wereRefused(asked: Asked[]): boolean {
  const answers = asked.flatMap(({ answer }) => answer ?? [])
  for (const { status, body } of answers)
    if (status !== 201) assert.deepEqual([status, body.code], [507, 'insufficient_storage'])
  return answers.some(({ status }) => status === 507)
}

/** All that was acknowledged is there as it was answered; with `exactly` nothing else is. */
export async function requireKept(api: Api, asked: Asked[], exactly: boolean): Promise<void> {
  const services: Body[] = await api.get('/services')
  for (const { name, answer } of asked) {
    const found = services.find((service) => service.name === name)
    if (answer?.status === 201) assert.deepEqual(found, answer.body)
    else if (exactly) assert.equal(found, undefined, `${name} was refused`)
  }
}
