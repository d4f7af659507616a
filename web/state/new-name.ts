import { extensionOf } from '../../shared/file-name.ts'

/**
 * Returns the name of a file that is renamed: with the extension that it had if it is given none,
 * and without folders, which its outputs would not have.
 */
export function newNameOf(before: string, given: string): string {
  const name = given.trim().replace(/[/\\]/g, '_')
  return name !== '' && extensionOf(name) === '' ? name + extensionOf(before) : name
}
