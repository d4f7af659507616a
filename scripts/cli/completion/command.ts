/** Writes the shells' completion of winnow's commands, of their actions and options. */

import { called } from '../command-name.ts'
import { action, actionsOf, command, oneOf, optionNames, type Action } from '../command.ts'
import { COMMANDS } from '../commands.ts'

const HELP = `Usage: ${called('completion', 'bash|zsh|fish')}

Prints a script that completes commands, options and names of files after winnow.

  bash  winnow completion bash > ~/.local/share/bash-completion/completions/winnow
  zsh   winnow completion zsh > ~/.winnow.zsh; then source ~/.winnow.zsh in ~/.zshrc, after compinit
  fish  winnow completion fish > ~/.config/fish/completions/winnow.fish
`
const SHELLS = ['bash', 'zsh', 'fish'] as const

export const completion = command({
  help: HELP,
  actions: action({
    operands: ['SHELL'],
    run: (_values, [shell = '']) => SCRIPTS[oneOf('completion', shell, SHELLS)],
  }),
})

/** The words that may come next, by a pattern of the words before, each followed by a space. */
const NEXT: readonly (readonly [before: string, next: readonly string[]])[] = [
  [' ', ['start', ...Object.keys(COMMANDS), 'completion', '--help', '--version']],
  ['completion ', SHELLS],
  ...Object.entries(COMMANDS).flatMap(([name, each]) => nextOf(name, actionsOf<never>(each))),
]

function nextOf(name: string, actions: Readonly<Record<string, Pick<Action, 'options'>>>) {
  const options = Object.entries(actions).map(([word, each]) =>
    optionsOf([name, word].filter(Boolean).join(' '), each),
  )
  return '' in actions ? options : [[`${name} `, Object.keys(actions)] as const, ...options]
}

function optionsOf(words: string, { options }: Pick<Action, 'options'>) {
  return [`${words} *`, optionNames(options)] as const
}

const BASH = `_winnow() {
  local next=
  case "\${COMP_WORDS[*]:1:\$((COMP_CWORD - 1))} " in
${NEXT.map(bashCase).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _winnow winnow
`
const FISH = `function __winnow_next
  set -l before (string join ' ' -- (commandline -opc)[2..])
  switch "$before "
${NEXT.map(fishCase).join('\n')}
  end
end
complete -c winnow -f -a '(__winnow_next)'
`
const SCRIPTS = {
  bash: BASH,
  zsh: `autoload -U +X bashcompinit && bashcompinit\n${BASH}`,
  fish: FISH,
}

function bashCase([before, next]: (typeof NEXT)[number]): string {
  return `    ${before.replaceAll(' ', '\\ ')}) next='${next.join(' ')}' ;;`
}

/** Names of files may stand where options may. */
function fishCase([before, next]: (typeof NEXT)[number]): string {
  const files = before.endsWith('*') ? '; __fish_complete_path (commandline -ct)' : ''
  return `    case '${before}'\n      string split ' ' -- '${next.join(' ')}'${files}`
}
