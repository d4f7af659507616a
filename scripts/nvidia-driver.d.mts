export function driverVersion(text: string): string
export function driverProblem(text: string | null): string
export function driverText(): string | null
