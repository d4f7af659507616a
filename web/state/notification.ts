/** Tells who looks elsewhere that a request has ended, once they have asked for it. */

import { signal } from '@preact/signals'

/** As the browser has it; `denied` also where it can't notify, as on pages without HTTPS. */
export const permission = signal<NotificationPermission>(
  'Notification' in window ? Notification.permission : 'denied',
)

export async function askToNotify(): Promise<void> {
  permission.value = await Notification.requestPermission()
}

export function notify(title: string): void {
  if (permission.peek() !== 'granted' || !document.hidden) return
  try {
    const shown = new Notification(title)
    shown.onclick = () => {
      focus()
      shown.close()
    }
  } catch {
    permission.value = 'denied' // Chrome on Android has the class, and lets no page use it
  }
}
