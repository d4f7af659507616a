export function layTypeScript(folder: string): Promise<void>
