import type { Separated } from '../state/player.ts'

/** For media that is too long to be decoded in a page: the browser's own players. */
export function PlainPlayer({ results }: { results: readonly Separated[] }) {
  return (
    <div class="plain">
      {results.map(({ prompt, result: { data } }) =>
        [
          { label: prompt, file: data.target },
          { label: `Residual of ${prompt}`, file: data.residual },
        ].map(({ label, file }) => (
          <figure key={file.url}>
            <figcaption>
              {label} <a href={file.url}>Download</a>
            </figcaption>
            {/* Speech that was separated has no captions. */}
            <audio controls preload="none" src={file.url} aria-label={label} />
          </figure>
        )),
      )}
    </div>
  )
}
