// Preloaded into every file of tests on Node 20, where tsx asks a second thread about each file of
// node_modules, 1,000 for a gateway. They are JavaScript already: what one module of a package
// imports from another is answered here, and tsx has the rest. A gateway is imported in two thirds
// of the time. Newer versions of Node give tsx a faster way.

import { existsSync, readFileSync } from 'node:fs'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import 'tsx' // hooks that are registered later are asked first

if (isMainThread) register(import.meta.url)

export function resolve(specifier, context, next) {
  const parent = context.parentURL
  if (!isOfPackage(parent) || !/^\..*\.m?js$/.test(specifier)) return next(specifier, context)
  const url = new URL(specifier, parent)
  const isModule = specifier.endsWith('.mjs') || typeOf(new URL('.', url)) === 'module'
  if (!isModule) return next(specifier, context)
  return { url: url.href, format: 'module', shortCircuit: true }
}

export function load(url, context, next) {
  if (context.format !== 'module' || !isOfPackage(url)) return next(url, context)
  return { format: 'module', source: readFileSync(new URL(url)), shortCircuit: true }
}

const isOfPackage = (url) => url?.startsWith('file:') && url.includes('/node_modules/')

const types = new Map()

/** `type` of the nearest package.json. */
function typeOf(folder) {
  if (!types.has(folder.href)) {
    const file = new URL('package.json', folder)
    const type = existsSync(file)
      ? JSON.parse(readFileSync(file, 'utf8')).type
      : typeOf(new URL('..', folder))
    types.set(folder.href, type)
  }
  return types.get(folder.href)
}
