// After a request that starts a deploy, the page is that of the new deploy.
import { useNavigate } from '@tanstack/react-router'

export function useFollow(name: string): (deploy: { id: string }) => void {
  const navigate = useNavigate()
  return ({ id }) => void navigate({ to: '/services/$name/deploys/$id', params: { name, id } })
}
