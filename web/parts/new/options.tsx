import { mayHaveTracks, options, source } from '../../state/draft.ts'
import { separators } from '../../state/separators.ts'

type SeparationOptions = typeof options.value

/** The options of a submission, each with a hint. */
export function Options() {
  return (
    <details class="options">
      <summary>Expert options</summary>
      {separators.value.length > 1 && <ModelOption />}
      <QualityOption />
      <FormatOption />
      <SpansOption />
      <NumberOption
        name="reranking_candidates"
        label="Tries per section; the best is kept"
        hint="Each try costs as much time as the first."
        range={{ min: '1', max: '8' }}
        placeholder="1"
      />
      <NumberOption
        name="max_chunk_duration"
        label="Longest section, in seconds"
        hint="Longer media is cut into sections, which are cross-faded."
        range={{ min: '1' }}
        placeholder="as the model likes"
      />
      <NumberOption
        name="chunk_overlap"
        label="Overlap of sections, in seconds"
        hint="Neighbours share so much; it must be shorter than a section."
        range={{ min: '0', step: '0.1' }}
        placeholder="as the model likes"
      />
      {mayHaveTracks(source.value) && (
        <NumberOption
          name="audio_track"
          label="Audio track"
          hint="Of a video with several, such as languages: 1 is the first."
          range={{ min: '1', max: '256' }}
          placeholder="the best"
        />
      )}
    </details>
  )
}

/** Sets an option of the draft; undefined leaves the choice to the service. */
function setOption<Name extends keyof SeparationOptions>(
  name: Name,
  value: SeparationOptions[Name] | undefined,
) {
  const { [name]: _old, ...rest } = options.value
  options.value = value === undefined ? rest : { ...rest, [name]: value }
}

function ModelOption() {
  return (
    <label>
      Model
      <select
        value={options.value.separator ?? 'auto'}
        onChange={({ currentTarget: { value } }) =>
          setOption('separator', value === 'auto' ? undefined : value)
        }
      >
        <option value="auto">by the words of each prompt</option>
        {separators.value.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <small>A model for songs gives its stems; others take any prompt.</small>
    </label>
  )
}

function QualityOption() {
  return (
    <label>
      Quality
      <select
        value={options.value.acceleration ?? 'balanced'}
        onChange={({ currentTarget: { value } }) =>
          setOption(
            'acceleration',
            value === 'balanced' ? undefined : (value as 'fast' | 'quality'),
          )
        }
      >
        <option value="fast">fast</option>
        <option value="balanced">balanced</option>
        <option value="quality">quality</option>
      </select>
      <small>More passes over the media, or more overlap, cost time.</small>
    </label>
  )
}

function FormatOption() {
  return (
    <label>
      Format
      <select
        value={options.value.output_format ?? 'wav'}
        onChange={({ currentTarget: { value } }) =>
          setOption('output_format', value === 'wav' ? undefined : (value as 'flac' | 'mp3'))
        }
      >
        <option value="wav">wav (24 bit)</option>
        <option value="flac">flac (24 bit)</option>
        <option value="mp3">mp3</option>
      </select>
      <small>Only lossless outputs add up to the mixture exactly.</small>
    </label>
  )
}

function SpansOption() {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={options.value.predict_spans ?? false}
        onChange={({ currentTarget: { checked } }) =>
          setOption('predict_spans', checked ? true : undefined)
        }
      />
      Find first where the sound is
      <small>Elsewhere the target is silent.</small>
    </label>
  )
}

interface NumberOptionProps {
  name: 'reranking_candidates' | 'max_chunk_duration' | 'chunk_overlap' | 'audio_track'
  label: string
  hint: string
  range: { min: string; max?: string; step?: string }
  placeholder: string
}

/** A number that the service chooses if the field is empty. */
function NumberOption({ name, label, hint, range, placeholder }: NumberOptionProps) {
  return (
    <label>
      {label}
      <input
        type="number"
        {...range}
        value={options.value[name] ?? ''}
        placeholder={placeholder}
        onChange={({ currentTarget: { value } }) =>
          setOption(name, value === '' ? undefined : Number(value))
        }
      />
      <small>{hint}</small>
    </label>
  )
}
