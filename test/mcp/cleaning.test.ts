import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { parse } from 'parse5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanValue } from '../../src/mcp/cleaning.ts';
import { withoutGiantTags } from '../../src/mcp/html-tags.ts';
import { isSimple } from '../../src/mcp/markdown.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';
import { call } from './support/mcp.ts';

let world: World;
let school: RecordingUpstream;
let texts: readonly string[] = [];

beforeAll(async () => {
  school = await startRecordingUpstream(async (_request, response, { whole }) => {
    await whole;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ texts }));
  });
  world = await startWorld({
    profile: 'A',
    overrides: {
      upstreams: { school: { url: school.url } },
      routes: [],
      mcp: {
        tools: [{ name: 'read', title: 'T', description: 'D', get: { upstream: 'school', path: '/any' } }],
        resources: [],
        prompts: [],
      },
      constants: { mcp: { largestResult: 2_097_152 } },
    },
  });
});
afterAll(async () => {
  await world.close();
  await school.close();
});

/** What a model receives for texts of the school. */
async function read(given: readonly string[]): Promise<string[]> {
  texts = given;
  const { body } = await call(world, 'read');
  return body.result.structuredContent.texts;
}

const expectRead = async (pairs: readonly (readonly [string, string])[]) => {
  expect(await read(pairs.map(([text]) => text))).toEqual(pairs.map(([, clean]) => clean));
};

describe('a text of the school in a tool result', () => {
  it('is unchanged when it is ordinary', async () => {
    const ordinary = [
      'Use *stars* and _lines_, **both**, and 2 * 3 * 4 = 24; a < b && c > d, x<y, <3, 5 > 4, R&D, AT&amp;T.',
      'List<String>, Map<String, List<Object>>, vec![1, 2], a[0]',
      'Wow! [a page](https://school.test/a?b=c&d=e), f[0](1)',
      'JavaScript: The Good Parts. Metadata: none. The description: short.',
      'Run `<img src=x onerror=1>` or `![a](b)`, then:\n\n```html\n<!-- shown -->\n<img src="x.png">\n![a](b)\n```\n\nDone.',
      '| a | b |\n|---|---|\n| `<b>` | 2 |\n\n- [ ] one\n- [x] two\n\n> quoted\n\n1. first\n   - inner',
      'Wait!! What? [1] Hello! [2]\n\n<https://school.test/a> and <mail@school.test>',
      'می‌خواهم 👨‍👩‍👧 ❤️ #️⃣ naïve\tcafé — “quoted” … 日本語、한국어',
      'if a <b and c> d, then e',
    ];
    expect(await read(ordinary)).toEqual(ordinary);
  });

  it('has no tag in capitals inside angle brackets, which Markdown would take for HTML', async () => {
    await expectRead([['Map<String, List<T>>', 'Map<String, List&lt;T>>']]);
  });

  it('has links in place of images, in every form of Markdown', async () => {
    await expectRead([
      ['!![x](http://e.test/p)', '[x](http://e.test/p)'],
      ['![a [b] c](http://e.test/p)', '[a [b] c](http://e.test/p)'],
      ['![a\\]b](http://e.test/p "t")', '[a\\]b](http://e.test/p "t")'],
      [`![${'a'.repeat(600)}](http://e.test/p)`, `[${'a'.repeat(600)}](http://e.test/p)`],
      ['![x]\n\n[x]: http://e.test/d', '[x]\n\n[x]: http://e.test/d'],
      ['![x][y]\n\n[y]: http://e.test/d', '[x][y]\n\n[y]: http://e.test/d'],
      ['![x][]\n\n[x]: http://e.test/d', '[x][]\n\n[x]: http://e.test/d'],
      ['[![words](http://e.test/i)](http://e.test/l)', '[words](http://e.test/l)'],
      ['> ![a](\n> http://e.test/p)', '> [a](\n> http://e.test/p)'],
      ['- one\n\n      ![a](http://e.test/p)', '- one\n\n      [a](http://e.test/p)'],
      ['!\u200b[a](http://e.test/p)', '[a](http://e.test/p)'],
      ['!<b></b>[a](http://e.test/p)', '[a](http://e.test/p)'],
      ['`a` ![b](http://e.test/p) `c`', '`a` [b](http://e.test/p) `c`'],
    ]);
  });

  it('keeps the words and links of HTML, and nothing that is fetched, run or hidden', async () => {
    await expectRead([
      ['<p>Hello <b>you</b></p><p>Two</p>', 'Hello you\nTwo\n'],
      ['<a href="https://school.test/a(b)">A page</a>', '[A page](https://school.test/a%28b%29)'],
      ['<img src="http://e.test/p" alt="A map" onerror=x>', '[A map](http://e.test/p)'],
      ['<img src="http://e.test/pixel">.', '.'],
      ['<a href="http://e.test/l"><img src="http://e.test/i" alt="words"></a>', '[words](http://e.test/l)'],
      ['<picture><source srcset="http://e.test/1"><img src=data:x alt=y></picture>', 'y'],
      ['<video src="http://e.test/v" poster="http://e.test/p">words</video>', 'words'],
      ['a<iframe src="http://e.test/f">b</iframe><object data=x>c</object><embed src=x>d', 'acd'],
      ['a<svg><image href="http://e.test/s"/><text>b</text></svg><style>@import "x"</style>c', 'ac'],
      ['<script>x()</script><link rel=stylesheet href=x><meta http-equiv=refresh content=0>a', 'a'],
      ['<div style="background:url(http://e.test/b)">a</div>', 'a\n'],
      ['<!-- a <!-- b --> c', ' c'],
      ['a<!-- b', 'a'],
      ['a<!--> b --> c', 'a b --> c'],
      ['a <?php echo 1 ?>b<![CDATA[c]]>d', 'a bd'],
      ['<p hidden>a</p><i style="DISPLAY : none">b</i><b style="font-size:0">c</b>d', 'd'],
      ['<b style="opacity:0.00">a</b><b style="opacity:.0">b</b><b style="opacity:0.5">c</b>', 'c'],
      ...[
        ...['visibility:hidden', 'visibility: collapse', 'content-visibility:hidden', 'opacity:0', 'opacity:0%;x:y'],
        ...['opacity:.0 !important', 'font-size:0px;color:red', 'display:/*x*/none', 'display:/*/none*/none'],
        ...['display:/* * / **/none', 'opacity:0/*', 'disp\\6cay:none', `${'x:y;'.repeat(600)}display:none`],
      ].map((style): [string, string] => [`<b style="${style}">a</b>.`, '.']),
      ...[
        'visibility:visible',
        'opacity:10',
        'font-size:0.5em',
        'display:block',
        'display:/*none',
        '/*display:none*/',
      ].map((style): [string, string] => [`<b style="${style}">a</b>.`, 'a.']),
      ['<h2>Title</h2><ul><li>one<li>two</ul>', '## Title\n- one\n- two\n'],
      ['The <script> tag, &lt;img src=x&gt;', 'The &lt;script> tag, &lt;img src=x&gt;'],
      ['<<b>img src=x></b>', '&lt;img src=x>'],
      ['<img src="http://e.test/p"', '&lt;img src="http://e.test/p"'],
      ['`a <script>` b</script> ![c](http://e.test/p)', '`a <script>` b [c](http://e.test/p)'],
    ]);
  });

  it('has no link to a script, however it is spelled', async () => {
    await expectRead([
      ['[a](javascript:x())', '[a](blocked:x())'],
      ['[a](java&#115;cript&colon;x())', '[a](blocked:)'],
      ['[a](<JavaScript:x()>)', '[a](blocked:)'],
      ['[a](javascript\\:x)', '[a](blocked:)'],
      ['[a][](java&#115;cript:x)', '[a][](blocked:)'],
      ['<vbscript:x>', '<blocked:x>'],
      ['[a]: &#x6a;avascript:x', '[a]: blocked:'],
      ['[a](data:text/html,x)', '[a](blocked:text/html,x)'],
      ['<a href="&#1;java\nscript:x">a</a>', 'a'],
      ['javascript:x()', 'blocked:x()'],
    ]);
  });

  it('has no invisible characters', async () => {
    await expectRead([
      ['a\ufe0fb\ufe00c\u{e0101}d\u180be', 'abcde'],
      ['❤️\ufe0f\ufe0f', '❤️'],
      [`é${'\u200d'.repeat(50)}é`, 'é\u200dé'],
      ['\u001b[31mred\u001b[0m \u0000x', 'red x'],
    ]);
  });

  it('is cleaned even where a code span is cut off, or the Markdown is too intricate to parse', async () => {
    const [cut, intricate] = await read([
      `${'a'.repeat(7990)}\`![b](http://e.test/p)\``,
      `${'['.repeat(3000)}![b](http://e.test/p) <img src="http://e.test/i"> ${']('.repeat(3000)}`,
    ]);
    expect(cut).toMatch(/^a+`\[b\]\(http [cut off here]$|^a+`\[?b?.{0,10} \[cut off here\]$/);
    expect(intricate).toContain('[b] (http://e.test/p)');
    expect(intricate).not.toMatch(/!\[|<img|\]\(/);
  });
});

describe('a long text', () => {
  it('is cut by what is shown of it, of which hidden parts may take up three times as much', async () => {
    const hidden = (length: number) => `<!--${'x'.repeat(length - 7)}-->`;
    await expectRead([
      [`${hidden(24_000)}${'a'.repeat(8000)}`, 'a'.repeat(8000)],
      [`${hidden(24_001)}${'a'.repeat(8000)}`, `${'a'.repeat(7999)} [cut off here]`],
      [`${hidden(33_000)}a`, ' [cut off here]'],
    ]);
  });

  it('is the same in pieces', async () => {
    const lines = `${'['.repeat(1001)}\n${'a word\n'.repeat(20_000)}`;
    expect(await cleanValue(`<i>b</i>${lines}`, 200_000)).toBe(`b${lines}`);
    const words = `${'['.repeat(1001)}${'😀'.repeat(40_000)}`;
    expect(await cleanValue(`<i>b</i>${words}`, 200_000)).toBe(`b${words}`);
  });

  it('is parsed if that takes milliseconds', () => {
    const simple = [
      '> '.repeat(16),
      `${'1234567890. '.repeat(17)}`,
      '['.repeat(1000),
      'a'.repeat(128 * 1024),
      '>'.repeat(16),
    ];
    expect(simple.filter((text) => !isSimple(text))).toEqual([]);
    const nested = ['>', '> ', '-\t', '+', '*', '1) ', '123456789. '].map((sign) => `a\n \t${sign.repeat(17)}`);
    expect([...nested, '['.repeat(1001), 'a'.repeat(128 * 1024 + 1)].filter((text) => isSimple(text))).toEqual([]);
  });

  it('has no tag with more than a thousand attributes', () => {
    for (const separator of [' ', '/', '"', "'", '=', '\t']) {
      const tag = (times: number) => `<a>b <b${`${separator}x`.repeat(times)}> c`;
      expect(withoutGiantTags(tag(1000))).toBe(tag(1000));
      expect(withoutGiantTags(tag(1001))).toBe(tag(1001).replace('<b', '&lt;b'));
    }
    expect(withoutGiantTags(`<a ${'x'.repeat(2000)}>`)).toBe(`<a ${'x'.repeat(2000)}>`);
  });

  it('has at most 32 levels of values, and names of 200 characters', async () => {
    const nested = (levels: number): unknown => (levels === 0 ? 'x' : { a: nested(levels - 1) });
    expect(await cleanValue(nested(32), 10)).toEqual(nested(32));
    expect(await cleanValue(nested(33), 10)).toEqual(JSON.parse(JSON.stringify(nested(32)).replace('"x"', 'null')));
    expect(await cleanValue({ ['n'.repeat(200)]: 1, ['m'.repeat(201)]: 2 }, 10)).toEqual({
      ['n'.repeat(200)]: 1,
      [`${'m'.repeat(200)} [cut off here]`]: 2,
    });
    expect(JSON.stringify(await cleanValue(JSON.parse('{"__proto__":{"a":"<b>x</b>"}}'), 10))).toBe(
      '{"__proto__":{"a":"x"}}',
    );
  });
});

/** Fragments with a meaning in Markdown or HTML, including in the wrong place. */
const PIECES = [
  ...['![', '](', '](http://e.test/p)', ')', '[x]: http://e.test/d\n', '\n[x]: http://e', '[x]', ']', '[', '][x]', '('],
  ...['\n', '\n\n', '`', '``', '```\n', '\n```\n', '~~~\n', '    ', '\t', '> ', '- ', '1) ', '|', '|-|\n', '*', '_'],
  ...['<img src=//e.test ', '>', '<!--', '-->', '--!>', '<', '</', '<?', '<!X', '<![CDATA[', ']]>', '<x y="z">'],
  ...['<b>', '</b>', '<script>', '</script>', '<style>', '</style>', '<div>', '</div>', '<pre>', '</pre>', '<svg>'],
  ...['</svg>', '<textarea>', '</textarea>', '<title>', '<noscript>', '<template>', '<p hidden>', '</p>', '<List>'],
  ...['<a href="http://e">', '</a>', '<input type=image src=//e>', '<body background=//e>', '<video poster=//e>'],
  ...['<link rel=stylesheet href=//e>', '<meta http-equiv=refresh content=0>', '<base href=//e>', 'style="a:url(//e)"'],
  ...['&lt;', '&#33;', '&#60;img src=x&#62;', '\\', '!', '!!', '"', "'", '=', 'a', 'word ', ' ', '\u200b', '\ufe0f'],
  ...['javascript:', 'java\tscript:', 'java&#115;cript:x', '<javascript:x>', '<http://e>', '\u{e0041}'],
];
const FETCHED =
  /^(?:img|picture|source|video|audio|iframe|object|embed|svg|style|link|script|meta|base|frame|input|track|#comment)$/;
const ACTIVE = /^\s*(?:j\s*a\s*v\s*a\s*s\s*c\s*r\s*i\s*p\s*t|vbscript|data)\s*:/i;

const markdown = new MarkdownIt({ html: true });
markdown.validateLink = () => true;

interface Node {
  readonly nodeName: string;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
  readonly childNodes?: readonly Node[];
}

/** What a different Markdown parser and a browser's HTML parser find in a text that must not be there. */
function flawOf(text: string): string | undefined {
  const open: Node[] = [parse(markdown.render(text)) as unknown as Node];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (FETCHED.test(node.nodeName)) return node.nodeName;
    for (const { name, value } of node.attrs ?? []) {
      if (/^(?:style|src|srcset|background|poster|on.*)$/.test(name)) return name;
      if (name === 'href' && ACTIVE.test(value)) return value;
    }
    open.push(...(node.childNodes ?? []));
  }
  return undefined;
}

describe('any text', () => {
  it('contains nothing that a browser would fetch, run or hide, also for another Markdown parser', async () => {
    const text = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 20 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 200, maxLength: 200 }), async (given) => {
        const clean = await read(given);
        const flaws = clean.flatMap((one, at) => {
          const flaw = flawOf(one);
          return flaw === undefined ? [] : [{ flaw, given: given[at], clean: one }];
        });
        expect(flaws).toEqual([]);
        expect(await read(clean)).toEqual(clean);
      }),
      { numRuns: 20 },
    );
  });

  it('is unchanged when it has only words and ordinary punctuation', async () => {
    const word = fc.stringMatching(/^[A-Za-zÀ-ÿА-я0-9.,;:'"*_&%$#@+=~^|{}()/?-]{1,12}$/);
    const sign = fc.constantFrom('<', '>', '< 5', '<=', '->', '[1]', '*', '`code`', '- item', '\n', '\n\n', '!', '😀');
    const text = fc
      .array(fc.oneof({ weight: 4, arbitrary: word }, sign), { maxLength: 40 })
      .map((all) => all.join(' '));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 200, maxLength: 200 }), async (given) => {
        expect(await read(given)).toEqual(given);
      }),
      { numRuns: 10 },
    );
  });
});
