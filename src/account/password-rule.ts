// The rules for a password. Its length is counted in characters, not in bytes.

const passwordChars = { least: 8, most: 1024 } as const

export const passwordRule = `must have ${passwordChars.least} to ${passwordChars.most} characters`

export function isPassword(text: string): boolean {
  const length = [...text].length
  return length >= passwordChars.least && length <= passwordChars.most && !/\p{Surrogate}/u.test(text)
}
