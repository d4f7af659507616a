/** The playground: a page to try the service in, and to listen to what it separates. */

import { effect } from '@preact/signals'
import { render } from 'preact'
import { App } from './parts/app.tsx'
import { loadDrawing } from './parts/drawing.ts'
import { showIcon } from './parts/favicon.ts'
import { titleOf } from './parts/status-text.ts'
import { AUDIENCE, isForNewPage, readAddress } from './state/address.ts'
import { restoreCredential } from './state/credential.ts'
import { notify } from './state/notification.ts'
import { isOver, openFromAddress, request } from './state/open-request.ts'
import { secretInAddress } from './state/shared-result.ts'
import { restoreFiles } from './state/file-queue.ts'

const secret = secretInAddress()
// Back, Forward, or another fragment in the address of a page that is open.
addEventListener('popstate', () => {
  if (secret !== null || isForNewPage()) return location.reload()
  readAddress()
  void openFromAddress()
})
render(<App secret={secret} />, document.querySelector('#page')!)
if (secret === null && AUDIENCE !== 'admins') {
  restoreFiles()
  await restoreCredential()
}
effect(() => {
  const open = request.value
  document.title = open ? `${titleOf(open.status.value)} · ${open.name}` : 'Winnow'
  showIcon(open?.status.value ?? null)
  if (open && isOver(open)) notify(document.title)
})
await loadDrawing()
