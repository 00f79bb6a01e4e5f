import { type Described, type DescribedOption, everyCommand, type Values } from './described.ts';

/** The script for zsh, one function for each command. */
export function zshScript(program: Described): string {
  return `#compdef coursegate
# zsh completion for coursegate, written by \`coursegate completion zsh\`.

${everyCommand(program).map(functionOf).join('\n\n')}

if [[ $funcstack[1] == _coursegate ]]; then
  _coursegate "$@"
else
  compdef _coursegate coursegate
fi
`;
}

function functionOf(command: Described): string {
  const options = command.options.map(optionSpec);
  return command.commands.length > 0 ? groupFunction(command, options) : commandFunction(command, options);
}

function commandFunction({ words, arguments: given }: Described, options: readonly string[]): string {
  const positional = given.map(({ name, values, variadic }) =>
    quote(`${variadic ? '*' : ''}:${inSpec(name)}:${action(values)}`),
  );
  return `${functionName(words)}() {
  _arguments -s -S ${[...options, ...positional].map((one) => `\\\n    ${one}`).join(' ')}
}`;
}

function groupFunction({ words, commands }: Described, options: readonly string[]): string {
  const listed = commands.map(({ name, summary }) => `    ${quote(`${inSpec(name)}:${summary}`)}`);
  const cases = commands.map((one) => `        ${one.name}) ${functionName(one.words)} ;;`);
  return `${functionName(words)}() {
  local curcontext=$curcontext state line
  local -a commands=(
${listed.join('\n')}
  )
  _arguments -C -S ${[...options, "'1: :->command'", "'*:: :->arguments'"].map((one) => `\\\n    ${one}`).join(' ')}
  case $state in
    command) _describe -t commands command commands ;;
    arguments)
      case $line[1] in
${cases.join('\n')}
      esac ;;
  esac
}`;
}

const functionName = (words: string): string => `_${words.replaceAll(' ', '_')}`;

function optionSpec({ long, short, description, values }: DescribedOption): string {
  const about = `[${inSpec(description)}]`;
  if (values === undefined) {
    if (short === undefined) return quote(`${long}${about}`);
    return `'(${short} ${long})'{${short},${long}}${quote(about)}`;
  }
  return quote(`${long}=${about}:${inSpec(long.slice(2))}:${action(values)}`);
}

function action(values: Values): string {
  if (values === 'text') return ' ';
  if (values === 'file') return '_files';
  if (values === 'folder') return '_files -/';
  return `(${values.join(' ')})`;
}

/** For the parts of a specification, which colons and brackets would end. */
const inSpec = (text: string): string => text.replace(/[\\:[\]]/g, '\\$&');

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
