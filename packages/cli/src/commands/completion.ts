// What a shell needs to complete the command: its commands and their options, as a script that is made of what the command knows of itself.

import type { Command } from 'commander'

export type Shell = 'bash' | 'zsh' | 'fish'
export const shells: readonly Shell[] = ['bash', 'zsh', 'fish']

/** To be evaluated by the shell: `eval "$(troupe completion bash)"`. */
export function completionFor(shell: Shell, program: Command): string {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    about: plain(command.description()),
    options: [...new Set([command, ...command.commands].flatMap(({ options }) => options.flatMap(({ long }) => long ?? [])))].concat('--help'),
    // Of a command that is made of others, those are what comes next.
    parts: command.commands.map((part) => part.name()),
  }))
  const names = commands.map(({ name }) => name).join(' ')
  if (shell === 'fish')
    return commands
      .flatMap(({ name, about, options, parts }) => [
        `complete -c troupe -n __fish_use_subcommand -f -a ${name} -d '${about}'`,
        ...parts.map((part) => `complete -c troupe -n '__fish_seen_subcommand_from ${name}' -f -a ${part}`),
        ...options.map((option) => `complete -c troupe -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
      ])
      .concat('')
      .join('\n')
  // zsh understands the same by way of bashcompinit.
  const cases = commands.map(({ name, options, parts }) => `    ${name}) words="${[...parts, ...options].join(' ')}" ;;`).join('\n')
  const script = `_troupe() {
  local current=\${COMP_WORDS[COMP_CWORD]} words="${names} --help --version"
  if [ "$COMP_CWORD" -gt 1 ]; then case \${COMP_WORDS[1]} in
${cases}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ "\${#COMPREPLY[@]}" -gt 0 ] || [ "$COMP_CWORD" -lt 2 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o nosort -F _troupe troupe
`
  return shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${script.replace('-o nosort ', '')}` : script
}

/** Quotes of a shell would end it. */
function plain(text: string): string {
  return text.replaceAll(/['"\\$`]/g, '')
}
