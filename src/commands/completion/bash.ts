import { type Described, type DescribedOption, everyCommand, type Values } from './described.ts';

/** The script for bash 4.1 and later, which needs nothing of the package bash-completion. */
export function bashScript(program: Described): string {
  const all = everyCommand(program);
  const below = all.flatMap(({ commands }) => commands.map(({ words }) => words));
  const valued = all.flatMap((command) =>
    command.options.filter(takesValue).map((option) => [command, option] as const),
  );
  const cases = valued.flatMap(([{ words }, { long, short, values = 'text' }]) =>
    [long, ...(short === undefined ? [] : [short])].map((flag) => `      '${words} ${flag}') ${offer(values)} ;;`),
  );
  return `# bash completion for coursegate, written by \`coursegate completion bash\`.

_coursegate() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local command=coursegate count=0 option= at one
  COMPREPLY=()
  # readline makes three words of --option=value.
  if [[ $word == '=' ]]; then
    word=
  elif [[ $previous == '=' ]]; then
    previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    one=\${COMP_WORDS[at]}
    if [[ -n $option ]]; then
      [[ $one == '=' ]] || option=
      continue
    fi
    case "$command $one" in
${patterns(below, '      ')}
        command="$command $one" ;;
${patterns(
  valued.map(([{ words }, { long }]) => `${words} ${long}`),
  '      ',
)}
        option=$one ;;
      *' -'*) ;;
      *) count=$((count + 1)) ;;
    esac
  done
  if [[ $previous == -* ]]; then
    case "$command $previous" in
${cases.join('\n')}
    esac
  fi
  if [[ $word == -* ]]; then
    case $command in
${all.map(({ words, options }) => `      '${words}') _coursegate_words ${options.map(({ long }) => long).join(' ')} ;;`).join('\n')}
    esac
    return
  fi
  case "$command" in
${all.map((command) => `    '${command.words}') ${positional(command)} ;;`).join('\n')}
  esac
}

# Offers those of these words that begin with what has been typed.
_coursegate_words() {
  COMPREPLY=($(compgen -W "$*" -- "$word"))
}

complete -F _coursegate coursegate
`;
}

const takesValue = ({ values }: DescribedOption): boolean => values !== undefined;

/** Patterns of a case, one a line. */
function patterns(words: readonly string[], indent: string): string {
  return `${indent}${words.map((one) => `'${one}'`).join(`|\\\n${indent}`)})`;
}

function offer(values: Values): string {
  if (values === 'text') return 'return';
  if (values === 'file') return 'compopt -o default; return';
  if (values === 'folder') return 'compopt -o dirnames; return';
  return `_coursegate_words ${values.join(' ')}; return`;
}

/** What can be at the place of the next argument. */
function positional({ commands, arguments: given }: Described): string {
  if (commands.length > 0) return `_coursegate_words ${commands.map(({ name }) => name).join(' ')}`;
  const [first] = given;
  if (first === undefined || first.values === 'text') return 'return';
  return first.variadic ? offer(first.values) : `((count > 0)) || { ${offer(first.values)}; }`;
}
