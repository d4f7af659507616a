import { useState } from 'preact/hooks'
import { TASKS } from '../../shared/tasks.ts'
import { AUDIENCE, goTo, view } from '../state/address.ts'
import { showAdmin, takeAdminCode } from '../state/admin.ts'
import { credential, signOut } from '../state/credential.ts'
import { clearDraft } from '../state/draft.ts'
import { forgetSources } from '../state/source-cache.ts'
import { close, forgetSubmit, request, sending } from '../state/open-request.ts'
import { forgetFiles } from '../state/file-queue.ts'
import { making } from '../state/save.ts'
import { chooseTask } from '../state/chosen-task.ts'
import { Mark } from './brand.tsx'
import { Developers } from './developers/developers.tsx'
import { History } from './history/history.tsx'
import { NewSeparation } from './new/new-separation.tsx'
import { AdminView } from './admin/admin-view.tsx'
import { Problem } from './problem.tsx'
import { Request } from './result/request.tsx'
import { SeveralFiles } from './new/several-files.tsx'
import { SharedPage } from './result/shared-page.tsx'
import { SignIn } from './sign-in.tsx'

takeAdminCode()

const isAdminView = () => view.value.kind === 'admin'

/** @param secret of a shared result, which is then all that the page shows */
export function App({ secret }: { secret: string | null }) {
  return (
    <>
      <Header isShared={secret !== null} />
      <main id="main" tabIndex={-1}>
        {secret !== null ? (
          <SharedPage secret={secret} />
        ) : isAdminView() ? (
          <AdminView />
        ) : (
          <Body />
        )}
      </main>
    </>
  )
}

function Body() {
  if (credential.value === undefined) return <p class="quiet">Loading…</p>
  if (credential.value === null) return <SignIn />
  if (view.value.kind === 'developers') return <Developers />
  if (request.value) return <Request key={request.value.id} request={request.value} />
  return (
    <>
      <SeveralFiles />
      <NewSeparation />
      <History />
    </>
  )
}

/**
 * Nothing of who was signed in stays for whoever comes next in this tab.
 * @throws Error if the session goes on; then everything stays
 */
async function clearSession(): Promise<void> {
  await signOut()
  sending.value?.abort.abort()
  making.value?.abort.abort()
  forgetSubmit()
  forgetFiles()
  close()
  clearDraft()
  chooseTask(TASKS[0])
  void forgetSources()
}

/** From the views of admins and developers to what was shown before. */
function showPlayground(): void {
  const open = request.value
  goTo(open ? { kind: 'request', id: open.id } : { kind: 'form' })
}

/** The address goes on naming the request that is shown. */
function skipToContent(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#main')!.focus()
}

function Header({ isShared }: { isShared: boolean }) {
  return (
    <header class="top">
      <a class="skip" href="#main" onClick={skipToContent}>
        Skip to the content
      </a>
      <p class="brand">
        <Mark />
        <strong>Winnow</strong> <span class="quiet">one sound out of many</span>
      </p>
      <nav aria-label="Page">
        <a href="docs/">Documents</a>
        {isShared ? <a href="./">Playground</a> : AUDIENCE !== 'admins' && <Views />}
        {credential.value && <SignOut />}
      </nav>
    </header>
  )
}

function SignOut() {
  const [problem, setProblem] = useState('')
  const press = () => {
    setProblem('')
    clearSession().catch((error: Error) => setProblem(`Not signed out: ${error.message}`))
  }
  return (
    <>
      <button class="link" onClick={press}>
        Sign out
      </button>
      <Problem>{problem}</Problem>
    </>
  )
}

/** The ways to the other views. */
function Views() {
  const { kind } = view.value
  return (
    <>
      {['admin', 'developers'].includes(kind) && (
        <button class="link" onClick={showPlayground}>
          Playground
        </button>
      )}
      {kind !== 'developers' && (
        <button class="link" onClick={() => goTo({ kind: 'developers' })}>
          Developers
        </button>
      )}
      {kind !== 'admin' && AUDIENCE !== 'clients' && (
        <button class="link" onClick={() => showAdmin('work')}>
          Admins
        </button>
      )}
    </>
  )
}
