import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client, fetchData } from '../../api/client'
import { PATHS } from '../../paths'

/** The name of the template that a message was rendered from, with a link, and the version; the start of its ID if it is deleted. */
export function TemplateName({ id, version }: { id: string; version: number }) {
  const { data, isError } = useQuery({
    queryKey: ['templates', 'one', id],
    queryFn: () => fetchData(client.GET('/templates/{id}', { params: { path: { id } } })),
    retry: false,
  })
  const name = data?.name ?? `${id.slice(0, 8)}…`
  return (
    <>
      {isError ? (
        name
      ) : (
        <Link to={PATHS.template} params={{ id }}>
          {name}
        </Link>
      )}
      , version {version}
    </>
  )
}
