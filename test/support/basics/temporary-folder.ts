import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes an empty folder, which is removed after the test, or with `{ after }` after its file. */
export function temporaryFolder(t: { after(end: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
