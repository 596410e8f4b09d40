// Ports of which a test provides only what the code under test uses. The compiler checks the provided parts.

type Some<T> = T extends (...args: infer Args) => infer Result
  ? (...args: Args) => Some<Result>
  : T extends Promise<infer Value>
    ? Promise<Some<Value>>
    : T extends object
      ? { [Key in keyof T]?: Some<T[Key]> }
      : T

export function standIn<T>(parts: Some<T>): T
export function standIn(parts: unknown): unknown {
  return parts
}
