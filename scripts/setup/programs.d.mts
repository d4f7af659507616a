export const PROGRAMS: readonly string[]
export function compiledProgram(program: string): Promise<string | null>
export function programsStep(): { title: string; isDone(): boolean; run(): Promise<void> }
