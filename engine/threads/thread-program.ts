/** Programs of worker threads, which are TypeScript. */

/** On Node 20 a worker does not inherit the TypeScript loader, so it registers one first. */
export const loaderOf = (program: URL): string =>
  `import('tsx/esm/api').then(({ register }) => {
  register()
  return import(${JSON.stringify(program.href)})
})`
