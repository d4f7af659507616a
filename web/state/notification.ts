/** Notifies people who have asked for it, and are looking elsewhere, that a request has ended. */

import { signal } from '@preact/signals'

/** The browser's permission; `denied` if it cannot notify, as on pages without HTTPS. */
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
    permission.value = 'denied' // Chrome on Android has the class but does not let pages use it
  }
}
