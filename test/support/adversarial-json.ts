const filled = (unit: string, length: number) => unit.repeat(Math.max(1, Math.floor(length / unit.length)));
const times = (length: number, size: number, one: (at: number) => string) =>
  Array.from({ length: Math.max(1, Math.floor(length / size)) }, (_, at) => one(at)).join(',');

/**
 * Tokens that make some parsers run in quadratic time when they are repeated. A pair means: half the text is the first
 * token, half the second.
 */
const TOKENS: Readonly<Record<string, string | readonly [string, string]>> = {
  'image openings': '![',
  'exclamation marks': '!',
  'backtick runs': '`',
  'closing brackets with colons': ']: ',
  backslashes: '\\',
  'comment openings': '<!--',
  'angle brackets': '<<<<',
  brackets: '[[[[',
  'brackets that close': ['[', ']'],
  parentheses: '((((',
  'escaped zeros': '\u0000',
  'terminal escapes': '\u001b[',
  'terminal titles': '\u001b]0;',
  joiners: 'é\u200d\u200d\u200d\u200d',
  'one run of joiners': '\u200d',
  'tag characters': '\u{e0041}',
  'emphasis runs': '*a_ *a_ ',
  'mixed delimiters': '*_',
  links: '[a](b ',
  'open links': '[a](<',
  references: '[a][',
  definitions: '[a]: b\n',
  'nested quotes': '>',
  'nested lists': '1) ',
  'many lists': '- a\n',
  'open tags': '<a ',
  'attributes of one tag': ['<a ', 'b1 '],
  'tags that are hidden': '<p hidden>',
  'scripts that never end': '<script>',
  elements: '<b><p>',
  references_: '&amp',
  'script links': 'javascript:',
  backticks: '` `` ',
  fences: '```\n',
  'soft hyphens': '\u00ad',
  'angle brackets of declarations': '<!A ',
  'white space': ' ',
  'brackets and spaces': '] ',
};

/** Named JSON values of about `length` bytes that are cheap to send and expensive to process. */
export function adversarialValues(length: number): readonly (readonly [name: string, json: string])[] {
  const texts = Object.entries(TOKENS).map(([name, token]): readonly [string, string] => {
    const [first, second] = typeof token === 'string' ? [token, token] : token;
    // A control character takes six bytes in JSON.
    const room = Math.floor((length * first.length) / (JSON.stringify(first).length - 2) / 2);
    const text =
      Array.isArray(token) && first.length > 1
        ? first + filled(second, room * 2)
        : filled(first, room) + filled(second, room);
    return [name, JSON.stringify(text)];
  });
  const deep = Math.floor(length / 2);
  return [
    ...texts,
    ['many such texts', `[${times(length, 4003, () => JSON.stringify('*_[a](![<b '.repeat(363)))}]`],
    ['many hidden texts', `[${times(length, 8003, () => JSON.stringify('<!-- <p hidden>a '.repeat(470)))}]`],
    ['nested lists of JSON', '['.repeat(deep) + ']'.repeat(deep)],
    ['nested objects', `${'{"a":'.repeat(length / 6)}1${'}'.repeat(length / 6)}`],
    ['an object of many keys', `{${times(length, 12, (at) => `"k${at}":1`)}}`],
    ['an object of long keys', `{${times(length, 1012, (at) => `"${'k'.repeat(1000)}${at}":1`)}}`],
    ['objects of different keys', `[${times(length, 15, (at) => `{"k${at}":1}`)}]`],
    ['the same key again and again', `{${times(length, 6, () => '"a":1')}}`],
    ['records', `[${times(length, 60, (at) => `{"id":${at},"title":"course ${at}","free":true,"n":null}`)}]`],
    [
      'records with Markdown',
      `[${times(length, 70, (at) => `{"id":${at},"title":"*course* [a](b) <b>x</b> ![c](d) ${at}"}`)}]`,
    ],
    ['long numbers', `[${times(length, 21, (at) => `${10_000_000_000_000_000_000n + BigInt(at)}`)}]`],
    ['one huge number', `[${'9'.repeat(length - 2)}]`],
    ['small lists', `[${times(length, 3, () => '[]')}]`],
    ['small texts', `[${times(length, 5, () => '"<"')}]`],
    ['one long key', `{"${'k'.repeat(length - 8)}":1}`],
  ];
}
