// A press of a button, or its key: one request, repeated with the same key until the server has answered.
import { type UseMutationResult, useMutation } from '@tanstack/react-query'
import { ApiError, newKey } from '../api/client.ts'

interface Press<Result>
  extends Pick<UseMutationResult<Result>, 'error' | 'data' | 'isPending' | 'isSuccess'> {
  press(): void
  /** The request may have arrived; its answer did not. */
  isUncertain: boolean
}

/** `run` is `send('POST', path, body)`. */
export function usePress<Result>(
  run: (key: string) => Promise<Result>,
  onAccepted?: (result: Result) => void,
): Press<Result> {
  const { mutate, isPending, error, data, isSuccess, failureCount } = useMutation({
    mutationFn: run,
    retry: isUnanswered,
    retryDelay: 2_000,
  })
  return {
    // Not after its button has left the page: a late answer must not lead elsewhere.
    press: () => mutate(newKey(), onAccepted && { onSuccess: onAccepted }),
    isUncertain: isPending && failureCount > 0,
    isPending,
    error,
    data,
    isSuccess,
  }
}

function isUnanswered(failures: number, error: Error): boolean {
  return error instanceof ApiError && error.problem.status === 0 && failures < 15
}
