/**
 * Returns the commands of a shell text, each as a list of unquoted words, including every part of pipes, lists and
 * substitutions. Here-document bodies, comments and variable assignments before a command are omitted. It supports the
 * syntax that the documentation uses, not all of POSIX.
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

/** Removes redirections, assignments before the command, and shell keywords. */
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

const OURS = /^(?:(?:.*\/)?coursegate(?:\.js)?|src\/main\.ts)$/;
/** Programs that run the command after their options. */
const RUNNERS = new Set(['npx', 'node', 'sudo', 'nohup', 'watch']);
const CONTAINERS = new Set(['kubectl', 'docker', 'podman']);

/** The words after `coursegate` if a command runs it: with npx, in a container, in a pod, with sudo. */
export function coursegateCall(words: readonly string[]): readonly string[] | undefined {
  const [first = '', ...rest] = words;
  if (OURS.test(first)) return rest;
  const program = first.split('/').at(-1) ?? '';
  if (RUNNERS.has(program)) {
    const inner = withoutOptions(rest);
    return OURS.test(inner[0] ?? '') || RUNNERS.has(inner[0] ?? '') ? coursegateCall(inner) : undefined;
  }
  if (!CONTAINERS.has(program)) return undefined;
  // The words before `--` in kubectl name the pod, which may also be called coursegate.
  const behind = words.indexOf('--');
  if (behind >= 0) return coursegateCall(words.slice(behind + 1));
  if (program === 'kubectl') return undefined;
  const image = words.findIndex((word) => /^(?:.*\/)?coursegate:[\w.$-]+$/.test(word));
  if (rest.includes('run') && image >= 0) return words.slice(image + 1);
  const [verb, ...behindVerb] = withoutOptions(rest[0] === 'compose' ? rest.slice(1) : rest);
  return verb === 'exec' ? coursegateCall(withoutOptions(behindVerb).slice(1)) : undefined;
}

/** Removes the options before a command, with the values of those that take one. */
function withoutOptions(words: readonly string[]): readonly string[] {
  const [first = '', ...rest] = words;
  if (!first.startsWith('-')) return words;
  return withoutOptions(['-u', '-g', '-n', '--user', '--group', '--file'].includes(first) ? rest.slice(1) : rest);
}
