/**
 * The commands of a shell text, each as its words with quotes taken off: of pipes, lists and substitutions every part.
 * Bodies of here-documents, comments and variable assignments before a command are left out. It reads what documentation
 * has, not all of POSIX.
 */
export function commandsIn(text: string): readonly (readonly string[])[] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  const source = withoutHereDocuments(text).replace(/\\\n\s*/g, ' ');
  for (let at = 0; at < source.length; at++) {
    const mark = source[at] ?? '';
    if (mark === "'") {
      const end = source.indexOf("'", at + 1);
      word = (word ?? '') + source.slice(at + 1, end < 0 ? undefined : end);
      at = end < 0 ? source.length : end;
    } else if (mark === '"') {
      const end = closingQuote(source, at);
      const inside = source.slice(at + 1, end);
      for (const [, inner = ''] of inside.matchAll(/\$\(([^)]*)\)/g))
        commands.push(...commandsIn(inner).map((one) => [...one]));
      word = (word ?? '') + inside.replace(/\\(["\\$`])/g, '$1');
      at = end;
    } else if (mark === '\\') {
      word = (word ?? '') + (source[at + 1] ?? '');
      at += 1;
    } else if (mark === '#' && word === undefined) {
      const end = source.indexOf('\n', at);
      at = end < 0 ? source.length : end - 1;
    } else if (mark === '<' && /^<[a-z][\w .-]*>/i.test(source.slice(at))) {
      // A placeholder such as <id>, not a redirection.
      const end = source.indexOf('>', at);
      word = (word ?? '') + source.slice(at, end + 1);
      at = end;
    } else if (/\s/.test(mark)) {
      if (mark === '\n') endCommand();
      else endWord();
    } else if (
      '|&;(){}`'.includes(mark) &&
      !(mark === '{' && word !== undefined) &&
      !(mark === '}' && word !== undefined)
    ) {
      endCommand();
    } else word = (word ?? '') + mark;
  }
  endCommand();
  return commands.map(withoutAround).filter((one) => one.length > 0);
}

function closingQuote(source: string, from: number): number {
  for (let at = from + 1; at < source.length; at++) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '"') return at;
  }
  return source.length;
}

function withoutHereDocuments(text: string): string {
  return text.replace(/(<<-?\s*['"]?(\w+)['"]?[^\n]*\n)[\s\S]*?^\s*\2$/gm, (_, head: string) =>
    head.replace(/<<-?\s*['"]?\w+['"]?/, ''),
  );
}

/** Takes off redirections, assignments before the command, and the words of a shell's own grammar. */
function withoutAround(words: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (/^\d?(?:>>?|<)&?\d?$/.test(word)) at += 1;
    else if (!/^\d?(?:>>?|<(?![a-z][\w .-]*>))/i.test(word)) kept.push(word);
  }
  const first = kept.findIndex(
    (word) =>
      !/^\w+=/.test(word) &&
      !['if', 'then', 'else', 'do', 'while', 'until', '!', 'exec', 'time', 'export'].includes(word),
  );
  return first < 0 ? [] : kept.slice(first);
}

/** The words behind `coursegate`, where a command runs it: by npx, in a container, in a pod, under sudo. */
export function coursegateCall(words: readonly string[]): readonly string[] | undefined {
  const at = words.findIndex((word, index) => {
    const before = words.slice(0, index);
    if (['-u', '-g', '-n', '--user', '--namespace'].includes(before.at(-1) ?? '')) return false;
    if (/^(?:.*\/)?coursegate(?:\.js)?$/.test(word) || word === 'src/main.ts') {
      if (before.length === 0) return true;
      const program = before[0]?.split('/').at(-1) ?? '';
      if (['npx', 'node', 'sudo', 'nohup', 'watch'].includes(program)) return true;
      // What stands before the `--` of kubectl is the pod, which may have our name too.
      if (program === 'kubectl') return before.includes('--');
      if (['docker', 'podman'].includes(program)) return before.includes('exec') || before.at(-1) === '--';
    }
    return /^(?:.*\/)?coursegate:[\w.-]+$/.test(word) && before.includes('run');
  });
  return at < 0 ? undefined : words.slice(at + 1);
}
