/** The playground: a page to try the service in, and to listen to what it separates. */

import { render } from 'preact'
import { App } from './parts/app.tsx'
import { loadDrawing } from './parts/drawing.ts'
import { restoreCredential } from './state/credential.ts'
import { openFromAddress } from './state/open-request.ts'
import { secretInAddress } from './state/shared-result.ts'
import { restoreFiles } from './state/file-queue.ts'

// Another code, or another request, in the address of a page that is open.
addEventListener('hashchange', () => location.reload())
const secret = secretInAddress()
render(<App secret={secret} />, document.querySelector('#page')!)
if (secret === null) {
  restoreFiles()
  await restoreCredential()
}
await Promise.all([loadDrawing(), ...(secret === null ? [openFromAddress()] : [])])
