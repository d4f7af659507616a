import { useEffect } from 'preact/hooks'
import type { SoundFormat } from '../../audio/convert.ts'
import type { Mixer } from '../../audio/mixer.ts'
import { withExtension, type StoredFile } from '../../state/output-files.ts'
import {
  isDecodable,
  outputsOf,
  type NamedOutput,
  type PlayableResult,
} from '../../state/loaded-media.ts'
import type { OpenRequest } from '../../state/open-request.ts'
import { preferredOutputOf } from '../../state/chosen-task.ts'
import { strengthOf } from './strength.tsx'
import { making, saveAs, saveProblem, saveVideo, saveZip } from '../../state/save.ts'
import { Problem } from '../problem.tsx'

const FORMATS: readonly SoundFormat[] = ['wav', 'flac', 'mp3']

interface DownloadsProps {
  request: OpenRequest
  result: PlayableResult
  /** Null if the page cannot make files of the outputs. */
  mixer: Mixer | null
}

/** Offers each output in each format, and all of them as one file. */
export function Downloads({ request, result, mixer }: DownloadsProps) {
  const preferred = preferredOutputOf(result)
  const rank = ({ kind }: NamedOutput) => (kind === preferred ? 0 : 1)
  const outputs = outputsOf(request, result).sort((a, b) => rank(a) - rank(b))
  const files = outputs.flatMap(({ files }) => files)
  useEffect(() => void (saveProblem.value = ''), []) // it was of another request
  const saveAll = () => void saveZip(files, zipName(result), !isDecodable(result))
  return (
    <section class="downloads" aria-labelledby="downloads">
      <h2 id="downloads">Download</h2>
      {mixer && <MixedBack mixer={mixer} />}
      <ul>
        {outputs.map((output) => (
          <OutputFormats key={output.output.url} {...output} mixer={mixer} />
        ))}
      </ul>
      <button disabled={making.value !== null} onClick={saveAll}>
        All as one ZIP
      </button>
      <Making />
      <Problem>{saveProblem.value}</Problem>
    </section>
  )
}

/** Says which files the strength applies to. */
function MixedBack({ mixer }: { mixer: Mixer }) {
  if (mixer.mixedBack.value === 0) return null
  return (
    <p class="quiet note">
      This page makes each file with a strength of {strengthOf(mixer)} %. The ZIP has the outputs at
      full strength.
    </p>
  )
}

interface MadeFile {
  format: string
  make(): Promise<void>
}

/** Lists the files that the page makes of an output: formats that the service lacks, and mixes. */
function madeOf({ output, files }: NamedOutput, mixed: Mixer | null): MadeFile[] {
  const [{ name, url }] = files as [StoredFile]
  if (!mixed) {
    const stored = files.map(({ format }) => format)
    return FORMATS.filter((format) => !stored.includes(format)).map((format) => ({
      format,
      make: () => saveAs(name, format, () => url),
    }))
  }
  // Read once, because the strength may be changed while a file is made.
  const [strength, part] = [strengthOf(mixed), mixed.mixedBack.value]
  const named = (format: string) => withExtension(name, `strength-${strength}.${format}`)
  const render = () => mixed.renderMixedBack(output, part)
  const videos = files.filter(({ format }) => format === 'mp4')
  return [
    ...FORMATS.map((format) => ({ format, make: () => saveAs(named(format), format, render) })),
    ...videos.map(({ format, url }) => ({
      format,
      make: () => saveVideo(named(format), url, render),
    })),
  ]
}

type OutputFormatsProps = NamedOutput & Pick<DownloadsProps, 'mixer'>

/** The service's files are links; the page makes the others. */
function OutputFormats({ mixer, ...named }: OutputFormatsProps) {
  const { label, files } = named
  const mixed = mixer && mixer.mixedBack.value > 0 ? mixer : null
  const stored = mixed ? [] : files
  return (
    <li>
      <span class="name">{label}</span>
      {stored.map(({ url, name, format }) => (
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
      {madeOf(named, mixed).map(({ format, make }) => (
        <button
          key={format}
          disabled={making.value !== null}
          aria-label={`Download ${label} as ${format.toUpperCase()}`}
          title="This page makes it when you ask for it"
          onClick={() => void make()}
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

/** For example, `song.rest.without-piano+drums.wav` becomes `song.piano+drums.zip`. */
const zipName = ({ data }: PlayableResult): string =>
  withExtension(data.residual.file_name, 'zip').replace('.rest.without-', '.')
