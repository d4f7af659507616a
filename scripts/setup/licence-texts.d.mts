export function packagesOf(inputs: readonly string[]): string[]
export function licenceTexts(names: readonly string[]): string
