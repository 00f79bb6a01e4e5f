import { ASK } from '../command.ts';

const asked = (words: string) => `coursegate ${ASK} -- ${words} 2>/dev/null`;

/**
 * The completion script of each shell. All of them ask the program, which prints a word a line, with its meaning after a
 * tab, or `:file` or `:folder` for names on disk.
 */
export const SCRIPTS = {
  // For bash 4.1 and later. Nothing of the package bash-completion is needed.
  bash: `# bash completion for coursegate, written by \`coursegate completion bash\`.

_coursegate() {
  local IFS=$'\\n' word=\${COMP_WORDS[COMP_CWORD]} offered
  # readline makes three words of --option=value.
  [[ $word == '=' ]] && word=
  offered=$(${asked(`"\${COMP_WORDS[@]:1:COMP_CWORD}"`)} | cut -f1)
  COMPREPLY=()
  case $offered in
    :file) compopt -o default ;;
    :folder) compopt -o dirnames ;;
    *) COMPREPLY=($(compgen -W "$offered" -- "$word")) ;;
  esac
}

complete -F _coursegate coursegate
`,
  zsh: `#compdef coursegate
# zsh completion for coursegate, written by \`coursegate completion zsh\`.

_coursegate() {
  local -a offered
  offered=(\${(f)"$(${asked(`"\${(@)words[2,CURRENT]}"`)})"})
  case $offered[1] in
    :file) compset -P '--*='; _files ;;
    :folder) compset -P '--*='; _files -/ ;;
    *)
      # _describe takes word:meaning.
      offered=(\${\${offered//:/\\\\:}/$'\\t'/:})
      _describe coursegate offered ;;
  esac
}

if [[ $funcstack[1] == _coursegate ]]; then
  _coursegate "$@"
else
  compdef _coursegate coursegate
fi
`,
  // For fish 3.1 and later.
  fish: `# fish completion for coursegate, written by \`coursegate completion fish\`.

function __coursegate_complete
    set -l word (commandline -ct)
    set -l offered (${asked('(commandline -opc)[2..-1] "$word"')})
    set -l flag (string match -r '^--[^=]*=' -- $word)
    set -l begun (string replace -r '^--[^=]*=' '' -- $word)
    switch "$offered"
        case :file
            printf "$flag%s\\n" (__fish_complete_path $begun)
        case :folder
            printf "$flag%s\\n" (__fish_complete_directories $begun)
        case '*'
            printf '%s\\n' $offered
    end
end

complete -c coursegate -f -a '(__coursegate_complete)'
`,
} as const;

export type Shell = keyof typeof SCRIPTS;
