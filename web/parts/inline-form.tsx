/** Forms whose fields stand in a row. */

import type { ComponentChildren } from 'preact'

interface InlineFormProps {
  label: string
  send(fields: FormData, form: HTMLFormElement): void
  onInput?(): void
  children: ComponentChildren
}

export const InlineForm = ({ label, send, onInput, children }: InlineFormProps) => (
  <form
    class="inline"
    aria-label={label}
    onInput={onInput}
    onSubmit={(event) => {
      event.preventDefault()
      send(new FormData(event.currentTarget), event.currentTarget)
    }}
  >
    {children}
  </form>
)

/** Returns the text in a field of a form. */
export const fieldText = (fields: FormData, name: string): string =>
  (fields.get(name) as string).trim()

/**
 * The priority class of a new key.
 * @param isBatchOnly if the user may give it no other class
 */
export const KeyPriority = ({ isBatchOnly = false }: { isBatchOnly?: boolean }) => (
  <label>
    Priority
    <select name="priority">
      {!isBatchOnly && <option value="">as for the account</option>}
      <option value="batch">batch: others go first</option>
    </select>
  </label>
)

/** Returns the choice of `KeyPriority`, as a field of the API. */
export const priorityIn = (fields: FormData): { priority?: 'batch' } =>
  fields.get('priority') === 'batch' ? { priority: 'batch' } : {}
