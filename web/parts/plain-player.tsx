import type { Result } from '../../clients/typescript/client.ts'
import { targetsOf } from '../state/player.ts'
import type { OpenRequest } from '../state/request.ts'

/** For media that is too long to be decoded in a page: the browser's own players. */
export function PlainPlayer({ request, result }: { request: OpenRequest; result: Result }) {
  const files = [
    ...targetsOf(request, result).map(({ prompt, file }) => ({ label: prompt, file })),
    { label: 'Residual', file: result.data.residual },
  ]
  return (
    <div class="plain">
      {files.map(({ label, file }) => (
        <figure key={file.url}>
          <figcaption>
            {label} <a href={file.url}>Download</a>
          </figcaption>
          {/* Speech that was separated has no captions. */}
          <audio controls preload="none" src={file.url} aria-label={label} />
        </figure>
      ))}
    </div>
  )
}
