// Every command of winnow, in the order of its help: the one list of them. Nothing is loaded before
// `load`, so that `winnow` itself needs nothing but Node.

/** What the help says of each command, and how it is loaded (`CommandRow` of command.ts). */
export const COMMANDS = {
  separate: {
    usage: 'FILES… "PROMPT"…',
    does: 'separates sounds with a running service (see --help)',
    isClient: true,
    load: async () => (await import('./separate/command.ts')).separate,
  },
  sounds: {
    usage: 'FILES…',
    does: 'lists the sounds in files, with a running service',
    isClient: true,
    load: async () => (await import('./sounds/command.ts')).sounds,
  },
  requests: {
    usage: 'list | delete | share',
    does: 'lists, deletes and shares requests of a running service',
    isClient: true,
    load: async () => (await import('./requests/command.ts')).requests,
  },
  open: {
    usage: '[ID]',
    does: 'opens the page of a running service, at a request',
    isClient: true,
    load: async () => (await import('./open/command.ts')).open,
  },
  mcp: {
    usage: '',
    does: 'offers a running service to agents, as MCP tools',
    isClient: true,
    load: async () => (await import('./mcp/command.ts')).mcp,
  },
  keys: { load: async () => (await import('./admin/keys.ts')).keys },
  accounts: { load: async () => (await import('./admin/accounts.ts')).accounts },
  database: { load: async () => (await import('./admin/database.ts')).database },
  backup: { load: async () => (await import('./backup/command.ts')).backup },
  doctor: { load: async () => (await import('./doctor/command.ts')).doctor },
  top: { load: async () => (await import('./top/command.ts')).top },
  model: { load: async () => (await import('./model/command.ts')).model },
  completion: {
    usage: 'bash | zsh | fish',
    does: 'prints a completion script for the shell',
    load: async () => (await import('./completion/command.ts')).completionOf(COMMANDS),
  },
  'install-host': {
    isForHosts: true,
    load: async () => (await import('./install-host/command.ts')).installHost,
  },
}

const WIDTH = 40

/** The lines of the help that name these. */
export function helpOfCommands() {
  const lines = Object.entries(COMMANDS).filter(([, { does }]) => does !== undefined)
  const tools = Object.keys(COMMANDS).filter((name) => isTool(COMMANDS[name]))
  return [
    line('winnow start', 'runs the service on this machine'),
    ...lines.map(([name, { usage, does }]) => line(`winnow ${name} ${usage}`, does)),
    `winnow ${tools.join(' | ')}`,
    line('', 'tools for admins (see --help of each)'),
    'winnow --version',
  ].join('\n')
}

const isTool = ({ does, isForHosts }) => does === undefined && !isForHosts
const line = (called, does) => `${called.padEnd(WIDTH - 1)} ${does}`
