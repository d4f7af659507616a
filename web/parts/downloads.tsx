import type { Result } from '../../clients/typescript/client.ts'
import type { SoundFormat } from '../audio/convert.ts'
import { withExtension } from '../state/output-files.ts'
import { isDecodable, outputsOf, type NamedOutput } from '../state/player.ts'
import type { OpenRequest } from '../state/request.ts'
import { making, saveAs, saveProblem, saveZip } from '../state/save.ts'

const FORMATS: readonly SoundFormat[] = ['wav', 'flac', 'mp3']

/** Each output in each format, and all as one file. */
export function Downloads({ request, result }: { request: OpenRequest; result: Result }) {
  const outputs = outputsOf(request, result)
  const files = outputs.flatMap(({ files }) => files)
  const saveAll = () => void saveZip(files, zipName(result), !isDecodable(result))
  return (
    <section class="downloads" aria-labelledby="downloads">
      <h2 id="downloads">Download</h2>
      <ul>
        {outputs.map((output) => (
          <OutputFormats key={output.output.url} {...output} />
        ))}
      </ul>
      <button disabled={making.value !== null} onClick={saveAll}>
        All as one ZIP
      </button>
      <Making />
      <p role="alert" class="problem">
        {saveProblem.value}
      </p>
    </section>
  )
}

/** Files that the service keeps are links; the page makes the rest. */
function OutputFormats({ label, files }: NamedOutput) {
  const stored = new Set(files.map(({ format }) => format))
  return (
    <li>
      <span class="name">{label}</span>
      {files.map(({ url, name, format }) => (
        <a
          key={format}
          class="button"
          href={url}
          download={name}
          aria-label={`Download ${label} as ${format.toUpperCase()}`}
          title={format === 'mp4' ? 'With the picture' : 'As the service keeps it'}
        >
          {format.toUpperCase()}
        </a>
      ))}
      {FORMATS.filter((format) => !stored.has(format)).map((format) => (
        <button
          key={format}
          disabled={making.value !== null}
          aria-label={`Download ${label} as ${format.toUpperCase()}`}
          title="This page makes it when you ask for it"
          onClick={() => void saveAs(files[0]!, format)}
        >
          {format.toUpperCase()}
        </button>
      ))}
    </li>
  )
}

function Making() {
  const current = making.value
  if (!current) return null
  const { name, part, abort } = current
  return (
    <div class="sending">
      <label>
        Making {name}
        <progress {...(part === null ? {} : { value: part })} />
      </label>
      <button onClick={() => abort.abort()}>Cancel</button>
    </div>
  )
}

/** `song.rest.without-piano+drums.wav` gives `song.piano+drums.zip`. */
const zipName = ({ data }: Result): string =>
  withExtension(data.residual.file_name, 'zip').replace('.rest.without-', '.')
