import { mayHaveTracks, options, source } from '../state/draft.ts'
import { separators } from '../state/separators.ts'

/** The options of a submission, each with what it does. */
export function Options() {
  const current = options.value
  const set = <Name extends keyof typeof current>(
    name: Name,
    value: (typeof current)[Name] | undefined,
  ) => {
    const { [name]: _old, ...rest } = options.value
    options.value = value === undefined ? rest : { ...rest, [name]: value }
  }
  return (
    <details class="options">
      <summary>Expert options</summary>
      {separators.value.length > 1 && (
        <label>
          Model
          <select
            value={current.separator ?? 'auto'}
            onChange={({ currentTarget: { value } }) =>
              set('separator', value === 'auto' ? undefined : value)
            }
          >
            <option value="auto">by the words of each prompt</option>
            {separators.value.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <small>A model for songs gives its stems; others take any prompt.</small>
        </label>
      )}
      <label>
        Quality
        <select
          value={current.acceleration ?? 'balanced'}
          onChange={({ currentTarget: { value } }) =>
            set('acceleration', value === 'balanced' ? undefined : (value as 'fast' | 'quality'))
          }
        >
          <option value="fast">fast</option>
          <option value="balanced">balanced</option>
          <option value="quality">quality</option>
        </select>
        <small>More passes over the media, or more overlap, cost time.</small>
      </label>
      <label>
        Format
        <select
          value={current.output_format ?? 'wav'}
          onChange={({ currentTarget: { value } }) =>
            set('output_format', value === 'wav' ? undefined : (value as 'flac' | 'mp3'))
          }
        >
          <option value="wav">wav (24 bit)</option>
          <option value="flac">flac (24 bit)</option>
          <option value="mp3">mp3</option>
        </select>
        <small>Only lossless outputs add up to the mixture exactly.</small>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={current.predict_spans ?? false}
          onChange={({ currentTarget: { checked } }) =>
            set('predict_spans', checked ? true : undefined)
          }
        />
        Find first where the sound is
        <small>Elsewhere the target is silent.</small>
      </label>
      <label>
        Tries per section; the best is kept
        <input
          type="number"
          min="1"
          max="8"
          value={current.reranking_candidates ?? 1}
          onChange={({ currentTarget: { value } }) =>
            set('reranking_candidates', Number(value) > 1 ? Number(value) : undefined)
          }
        />
        <small>Each try costs as much time as the first.</small>
      </label>
      <label>
        Longest section, in seconds
        <input
          type="number"
          min="1"
          value={current.max_chunk_duration ?? ''}
          placeholder="as the model likes"
          onChange={({ currentTarget: { value } }) =>
            set('max_chunk_duration', value === '' ? undefined : Number(value))
          }
        />
        <small>Longer media is cut into sections, which are cross-faded.</small>
      </label>
      <label>
        Overlap of sections, in seconds
        <input
          type="number"
          min="0"
          step="0.1"
          value={current.chunk_overlap ?? ''}
          placeholder="as the model likes"
          onChange={({ currentTarget: { value } }) =>
            set('chunk_overlap', value === '' ? undefined : Number(value))
          }
        />
        <small>Neighbours share so much; it must be shorter than a section.</small>
      </label>
      {mayHaveTracks(source.value) && (
        <label>
          Audio track
          <input
            type="number"
            min="1"
            max="256"
            value={current.audio_track ?? ''}
            placeholder="the best"
            onChange={({ currentTarget: { value } }) =>
              set('audio_track', value === '' ? undefined : Number(value))
            }
          />
          <small>Of a video with several, such as languages: 1 is the first.</small>
        </label>
      )}
    </details>
  )
}
