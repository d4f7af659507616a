import { extensionOf } from '../../shared/file-name.ts'

/**
 * Returns the new name of a file. A name without an extension gets the old one, and slashes are
 * replaced, because outputs have no folders.
 */
export function newNameOf(oldName: string, input: string): string {
  const name = input.trim().replace(/[/\\]/g, '_')
  return name !== '' && extensionOf(name) === '' ? name + extensionOf(oldName) : name
}
