// The parts of what is said about automatic deploys.
import { Link } from '@tanstack/react-router'
import type { Service } from '../../api/service.ts'
import { shortId } from '../look/short-id.ts'
import { Age } from '../look/times.tsx'
import { toSentence } from '../shell/problem.tsx'

/** "Pushes to main", "Tags v*", "New images of web:stable" */
export function newsOf({ image, branch, tag_pattern: tags }: Service): string {
  if (image === null && tags !== null) return `Tags ${tags}`
  return image === null ? `Pushes to ${branch ?? 'the default branch'}` : `New images of ${image}`
}

/** Uploads are deployed as they come, and an image with a digest never changes. */
export function canChange({ image, repo_url: repository }: Pick<Service, 'image' | 'repo_url'>): boolean {
  return repository !== null || (image !== null && !image.includes('@'))
}

/** The start of a commit, or of the digest of an image. */
export function Version({ id }: { id: string }) {
  return <code>{id.replace(/^sha256:/, '').slice(0, 7)}</code>
}

/** Unknown if the server failed itself. */
export function Since({ at }: { at: string | null }) {
  return (
    at !== null && (
      <>
        {' '}
        since <Age at={at} />
      </>
    )
  )
}

export function DeployLink({ name, id }: { name: string; id: string }) {
  return (
    <Link to="/services/$name/deploys/$id" params={{ name, id }}>
      {shortId(id)}
    </Link>
  )
}

/** A reason of the server; the deploys that it names are links. */
export function Reason({ name, text }: { name: string; text: string }) {
  const [first = '', ...rest] = toSentence(text).split(/(dep-[0-9a-z]{26})/i)
  return (
    <>
      {first}
      {rest.map((part, index) =>
        index % 2 === 0 ? <DeployLink key={index} name={name} id={part.toLowerCase()} /> : part,
      )}
    </>
  )
}
