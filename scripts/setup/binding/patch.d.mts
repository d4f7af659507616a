export function patchKey(): string
export function layPatchedSources(packageFolder: string, folder: string): void
