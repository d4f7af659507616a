export function layPrebuilt(folder: string, addons: Readonly<Record<string, string>>): void
export function findPrebuilt(folder: string, key: string): string | undefined
