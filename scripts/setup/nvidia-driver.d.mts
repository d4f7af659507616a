export function driverVersion(text: string): string
export function driverProblem(text: string | null): string
export function driverText(file?: string, commands?: readonly string[]): string | null
