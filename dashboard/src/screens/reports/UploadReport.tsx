import { Button, FileButton } from '@mantine/core'
import { Allowed } from '../../access/Allowed'
import { client, fetchData } from '../../api/client'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { useApiMutation } from '../../ui/useForm'

/** Uploads a report that was received elsewhere. Its content decides which domain it is about. */
export function UploadReport() {
  const upload = useApiMutation({
    request: async (file: File) =>
      fetchData(client.POST('/reports', { body: { filename: file.name.slice(0, 255), content: await encode(file) } })),
    invalidates: ['reports'],
    message: 'Uploaded the report.',
  })
  return (
    <div className="stack">
      <Allowed action="report.upload">
        <FileButton accept=".xml,.gz,.zip,.json,.eml" onChange={(file) => file && upload.mutate(file)}>
          {(props) => (
            <Button {...props} variant="default" loading={upload.isPending} leftSection={<Icon name="clip" size={16} />}>
              Upload report
            </Button>
          )}
        </FileButton>
      </Allowed>
      <ErrorNote error={upload.error} />
    </div>
  )
}

async function encode(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let text = ''
  for (let start = 0; start < bytes.length; start += 0x8000) text += String.fromCharCode(...bytes.subarray(start, start + 0x8000))
  return btoa(text)
}
