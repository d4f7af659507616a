/** Starts gateways that serve the page to a browser, and signs in to them. */

import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { startGateway, type Gateway, type GatewayOptions } from '../gateway/start-gateway.ts'
import { enterKey, openPage } from './browser.ts'

/** The folder of the built page. */
export const PAGE = fileURLToPath(new URL('../../../.runtime/web', import.meta.url))

export interface PageGateway {
  gateway: Gateway
  url: string
}

/** Starts a gateway on the current time, with URLs that the browser can reach. */
export async function startReachable(
  t: TestContext,
  config: GatewayOptions['config'] = {},
): Promise<PageGateway> {
  let url = 'http://winnow.test'
  const gateway = await startGateway(t, {
    config: { playgroundFolder: PAGE, publicUrl: () => url, ...config },
  })
  gateway.clock.set(Date.now() - gateway.clock.now())
  url = await gateway.listen()
  return { gateway, url }
}

/** Opens the page with the gateway's key. */
export async function openWithKey(
  t: TestContext,
  browser: Browser,
  { gateway, url }: PageGateway,
): Promise<Page> {
  const page = await openPage(t, browser, url)
  await enterKey(page, gateway.key)
  await page.getByRole('button', { name: 'Sign out' }).waitFor() // a reload keeps the key
  return page
}
