import { type Described, type DescribedOption, everyCommand, type Values } from './described.ts';

/** The script for fish 3.1 and later. */
export function fishScript(program: Described): string {
  const all = everyCommand(program);
  const below = all.flatMap(({ commands }) => commands.map(({ words }) => quote(words)));
  const valued = all.flatMap(({ words, options }) =>
    options.filter(({ values }) => values !== undefined).map(({ long }) => quote(`${words} ${long}`)),
  );
  return `# fish completion for coursegate, written by \`coursegate completion fish\`.

# The command before the cursor, without options, and how many arguments follow it.
function __coursegate_typed
    set -l command coursegate
    set -l count 0
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch "$command $word"
            case ${below.join(' ')}
                set command "$command $word"
            case ${valued.join(' ')}
                set skip 1
            case '* -*'
            case '*'
                set count (math $count + 1)
        end
    end
    echo $command
    echo $count
end

function __coursegate_at
    test (__coursegate_typed)[1] = "$argv"
end

function __coursegate_first
    set -l typed (__coursegate_typed)
    test $typed[1] = "$argv" -a $typed[2] = 0
end

complete -c coursegate -f
${all.flatMap(linesOf).join('\n')}
`;
}

function linesOf(command: Described): readonly string[] {
  const at = `complete -c coursegate -n '__coursegate_at ${command.words}'`;
  return [
    ...command.commands.map(({ name, summary }) => `${at} -a ${name} -d ${quote(summary)}`),
    ...command.options.map((option) => `${at} ${optionFlags(option)} -d ${quote(option.description)}`),
    ...command.arguments.flatMap(({ values, variadic }) => {
      const place = variadic ? at : at.replace('__coursegate_at', '__coursegate_first');
      return values === 'text' ? [] : [`${place} ${offer(values)}`];
    }),
  ];
}

function optionFlags({ long, short, values }: DescribedOption): string {
  const names = [...(short === undefined ? [] : [`-s ${short.slice(1)}`]), `-l ${long.slice(2)}`];
  if (values === undefined) return names.join(' ');
  // With -x, nothing but what is offered: no file names.
  const only = values === 'file' ? '-r' : '-x';
  return [...names, only, ...(values === 'text' ? [] : [offer(values)])].join(' ');
}

function offer(values: Exclude<Values, 'text'>): string {
  if (values === 'file') return '-F';
  if (values === 'folder') return "-a '(__fish_complete_directories)'";
  return `-a ${quote(values.join(' '))}`;
}

const quote = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
