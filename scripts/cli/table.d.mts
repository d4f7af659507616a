import type { CommandRow } from './command.ts'

export const COMMANDS: Readonly<Record<string, CommandRow>>
export function helpOfCommands(): string
