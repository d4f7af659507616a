/** Prints shell completions for winnow's commands, their actions and options. */

import { commandText } from '../command-name.ts'
import {
  action,
  actionsOf,
  command,
  oneOf,
  optionNames,
  type Action,
  type CommandRow,
} from '../command.ts'

const HELP = `Usage: ${commandText('completion', 'bash|zsh|fish')}

Prints a script that completes commands, options and file names after winnow.

  bash  winnow completion bash > ~/.local/share/bash-completion/completions/winnow
  zsh   winnow completion zsh > ~/.winnow.zsh; then source ~/.winnow.zsh in ~/.zshrc, after compinit
  fish  winnow completion fish > ~/.config/fish/completions/winnow.fish
`
const SHELLS = ['bash', 'zsh', 'fish'] as const

/** @param commands the commands to complete, including itself */
export const completionOf = (commands: Readonly<Record<string, CommandRow>>) =>
  command({
    help: HELP,
    actions: action({
      operands: ['SHELL'],
      run: async (_values, [shell = '']) =>
        SCRIPTS[oneOf('completion', shell, SHELLS)](await nextWords(commands)),
    }),
  })

/** The words that may come next, by a pattern for the words before, each followed by a space. */
type Next = readonly (readonly [before: string, next: readonly string[]])[]

async function nextWords(commands: Readonly<Record<string, CommandRow>>): Promise<Next> {
  const everywhere = Object.entries(commands).filter(([, { isForHosts }]) => !isForHosts)
  const others = everywhere.filter(([name]) => name !== 'completion')
  const next = others.map(async ([name, row]) => nextOf(name, actionsOf<never>(await row.load())))
  return [
    [' ', ['start', ...everywhere.map(([name]) => name), '--help', '--version']],
    ['completion ', SHELLS],
    ...(await Promise.all(next)).flat(),
  ]
}

function nextOf(name: string, actions: Readonly<Record<string, Pick<Action, 'options'>>>) {
  const options = Object.entries(actions).map(([word, each]) =>
    optionsOf([name, word].filter(Boolean).join(' '), each),
  )
  return '' in actions ? options : [[`${name} `, Object.keys(actions)] as const, ...options]
}

function optionsOf(words: string, { options }: Pick<Action, 'options'>) {
  return [`${words} *`, optionNames(options)] as const
}

const bash = (next: Next) => `_winnow() {
  local next=
  case "\${COMP_WORDS[*]:1:\$((COMP_CWORD - 1))} " in
${next.map(bashCase).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _winnow winnow
`
const fish = (next: Next) => `function __winnow_next
  set -l before (string join ' ' -- (commandline -opc)[2..])
  switch "$before "
${next.map(fishCase).join('\n')}
  end
end
complete -c winnow -f -a '(__winnow_next)'
`
const SCRIPTS = {
  bash,
  zsh: (next: Next) => `autoload -U +X bashcompinit && bashcompinit\n${bash(next)}`,
  fish,
}

function bashCase([before, next]: Next[number]): string {
  return `    ${before.replaceAll(' ', '\\ ')}) next='${next.join(' ')}' ;;`
}

/** File names may appear wherever options may. */
function fishCase([before, next]: Next[number]): string {
  const files = before.endsWith('*') ? '; __fish_complete_path (commandline -ct)' : ''
  return `    case '${before}'\n      string split ' ' -- '${next.join(' ')}'${files}`
}
