import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileSelection, type VariableValues } from '../../src/account/connect/evaluate.ts';
import { parseJson } from '../../src/account/connect/json.ts';
import { describeMethods } from '../../src/account/connect/methods.ts';
import { parseSelection } from '../../src/account/connect/parser.ts';
import { fillHeader, fillPath, fillQuery, parsePath, parseTemplate } from '../../src/account/connect/template.ts';

/** The result of applying a selection to data, as plain JSON. */
function select(text: string, data: unknown, scope: VariableValues = {}): unknown {
  return JSON.parse(JSON.stringify(compileSelection(parseSelection(text))(data, scope) ?? null));
}

const COURSE = { id: 7, course: { slug: 'a', 'odd name': 1 }, tags: [{ t: 'x' }, { t: 'y' }], price: 4.5, none: null };

describe('selections', () => {
  test.each<[text: string, out: unknown]>([
    ['id', { id: 7 }],
    ['id # a comment\n tags { t }', { id: 7, tags: [{ t: 'x' }, { t: 'y' }] }],
    ['slug: course.slug', { slug: 'a' }],
    ['odd: course."odd name"', { odd: 1 }],
    ['all: tags.t', { all: ['x', 'y'] }],
    ['group: { id slug: course.slug }', { group: { id: 7, slug: 'a' } }],
    ['inner: course { slug }', { inner: { slug: 'a' } }],
    ['a: missing.deep.down', { a: null }],
    ['a: missing { id }', { a: null }],
    ['a: id.slug', { a: null }],
    ['a: none ?? missing ?? id', { a: 7 }],
    ['a: none ?? $("text")', { a: 'text' }],
    ['a: $context.sub', { a: 'm-1' }],
    ['a: @.course.slug', { a: 'a' }],
    ['"odd-name": id', { 'odd-name': 7 }],
    ['a: $([1, "b", [true]])', { a: [1, 'b', [true]] }],
    ['a: tags->map(@.t)', { a: ['x', 'y'] }],
    ['a: tags->find(@.t->eq("y")).t', { a: 'y' }],
    ['a: tags->filter(@.t->ne("y"))', { a: [{ t: 'x' }] }],
    ['a: course->entries->first', { a: { key: 'slug', value: 'a' } }],
    ['$.course.slug', 'a'],
    ['$.tags { t }', [{ t: 'x' }, { t: 'y' }]],
    ['$([null, $.course]) { slug }', [null, { slug: 'a' }]],
    ['$(-1.5)', -1.5],
    ['a: $.price->mul($.id)', { a: 31.5 }],
    ['a: price->mul(@.id)->add($.id)', { a: 38.5 }],
    ['a: course { b: slug->eq($.slug) }', { a: { b: true } }],
    ['a: tags->filter(@.t->eq($context.sub)->or(@.t->eq("y"))).t', { a: ['y'] }],
    ['a: tags->map(@ { t: t->match(["x", $.t], [@, $("other")]) })', { a: [{ t: 'x' }, { t: 'other' }] }],
    ['a: $([$.id, [@.price, "c"], $context.sub])', { a: [7, [4.5, 'c'], 'm-1'] }],
    ['a: id->eq($.missing ?? $.id)', { a: true }],
    ['a: $.id->match([7, $.course], [@, null]) { slug }', { a: { slug: 'a' } }],
    ['@.id', 7],
    ["a: $('it\\'s')", { a: "it's" }],
  ])('evaluate %s', (text, out) => {
    expect(select(text, COURSE, { context: { sub: 'm-1' } })).toEqual(out);
  });

  test('ignore inherited names', () => {
    expect(select('a: toString b: hasOwnProperty c: tags.length', COURSE)).toEqual({
      a: null,
      b: null,
      c: [null, null],
    });
  });

  test.each([
    '',
    'a:',
    'a b:',
    'a a',
    '{ a }',
    'a.b',
    'a->',
    'a: b->x(',
    'a: $(x)',
    'a: $([1)',
    'a: @@',
    '"a b"',
    'a: b->map(@.)',
    'a: b->eq(c)',
    'a: $nope.x',
    'a: "unclosed',
    'a }',
    'a: {}',
    'constructor',
    'a: __proto__',
    'a: %',
    'a: b->eq(c.d)',
    'a: $([b])',
    'a: b->eq([1)',
  ])('refuse %j as a syntax error', (text) => {
    expect(() => parseSelection(text)).toThrow(
      expect.objectContaining({ name: 'MappingSyntaxError', at: expect.any(Number) }),
    );
  });

  test('either parse or report a syntax error with its position, for any text', () => {
    const piece = fc.constantFrom(
      'a',
      ':',
      '.',
      '->',
      '??',
      '{',
      '}',
      '$',
      '(',
      ')',
      '"x"',
      '1',
      ' ',
      '#',
      '\n',
      '$args',
      'eq',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((parts) => parts.join('')),
        ),
        (text) => {
          try {
            parseSelection(text);
          } catch (thrown) {
            expect(thrown).toMatchObject({ name: 'MappingSyntaxError' });
            expect((thrown as { at: number }).at).toBeLessThanOrEqual(text.length);
          }
        },
      ),
    );
  });
});

describe('methods of selections', () => {
  test.each<[method: string, value: unknown, out: unknown]>([
    ['eq(1)', 1, true],
    ['eq(1)', '1', false],
    ['ne("x")', 'x', false],
    ['gt(1)', 2, true],
    ['gte(2)', 2, true],
    ['lt("b")', 'a', true],
    ['lte(1)', 2, false],
    ['not', true, false],
    ['add(1)', 2, 3],
    ['sub(1)', 2, 1],
    ['mul(2)', 2, 4],
    ['div(1000)', 754_999, 754.999],
    ['div(1000)->floor', 754_999, 754],
    ['floor', -0.5, -1],
    ['toString', 4711, '4711'],
    ['parseInt', '042', 42],
    ['parseInt', 7, 7],
    ['first', [1, 2], 1],
    ['last', [1, 2], 2],
    ['first', [], null],
    ['size', [1, 2], 2],
    ["joinNotNull(',')", ['a', null, 1], 'a,1'],
    ['eq(1)', null, null],
    ['isNull', null, true],
    ['isNull', 0, false],
    ['in([1, "a", null])', 'a', true],
    ['in([1])', '1', false],
    ['contains("a")', ['b', 'a'], true],
    ['match(["paid", "PAID"], ["open", "PENDING"])', 'open', 'PENDING'],
    ['match(["paid", "PAID"], [@, "UNKNOWN"])', 'new', 'UNKNOWN'],
    ['match([1, "one"], [@, @])', 2, 2],
    ['match(["a", "b"])', 'x', null],
    ['mod(3)', 7, 1],
    ['ceil', 1.2, 2],
    ['round', 1.5, 2],
    ['get(1)', ['a', 'b'], 'b'],
    ['get(-1)', ['a', 'b'], 'b'],
    ['get(5)', ['a'], null],
    ['slice(1)', [1, 2, 3], [2, 3]],
    ['slice(0, 1)', [1, 2, 3], [1]],
    ['map(@.a->mul(2))', [{ a: 1 }, { a: 2 }], [2, 4]],
    ['filter(@->gt(1))', [1, 2], [2]],
    [
      'find(@.k->eq("b")).v',
      [
        { k: 'a', v: 1 },
        { k: 'b', v: 2 },
      ],
      2,
    ],
    ['find(@->eq(9))', [1], null],
    ['entries->map(@.key)', { x: 1, y: 2 }, ['x', 'y']],
    ['and(true)', true, true],
    ['and(true, false)', true, false],
    ['and(true)', false, false],
    ['and($(null))', true, null],
    ['and($(null))', false, false],
    ['and(false)', null, false],
    ['or(false)', false, false],
    ['or(false, true)', false, true],
    ['or($(null))', true, true],
    ['or($(null))', false, null],
    ['or(true)', null, true],
    ['div($(null))', 4, null],
    ['gt($(null))', 4, null],
    ['eq($(null))', 4, false],
    ['decode("html")', 'B&auml;ume &amp; &bdquo;Blumen&ldquo; &#8211; O&#x2019;Neill', 'Bäume & „Blumen“ – O’Neill'],
    ['decode("html")', '&amp;#8217; &NotEqualTilde; &nosuch; AT&T &copy', '&#8217; ≂̸ &nosuch; AT&T &copy'],
    ['split("/")', 'a/b//c', ['a', 'b', '', 'c']],
    ['split(",")', '', ['']],
    ['slice(0, 2)', '🎓🎓🎓', '🎓🎓'],
    ['slice(-3)', 'course', 'rse'],
    ['slice($(1), $(2))', 'abc', 'b'],
    ['sortBy(@)', [3, 1, null, 2], [1, 2, 3]],
    ['sortBy(@.a)', [{ a: 'b', n: 1 }, { a: 'a' }, { a: 'b', n: 2 }], [{ a: 'a' }, { a: 'b', n: 1 }, { a: 'b', n: 2 }]],
    ['flatten', [[1, [2]], null, [], [3]], [1, [2], 3]],
    ['flatten', [], []],
    ['flatten', null, null],
    ['map(@.l)->flatten->map(@.n)', [{ l: [{ n: 1 }, { n: 2 }] }, {}, { l: [{ n: 3 }] }], [1, 2, 3]],
    ['maxBy(@)', [1, 3, null, 2], 3],
    ['minBy(@)', ['b', 'a'], 'a'],
    ['maxBy(@)', [], null],
    ['maxBy(@)', [null], null],
    ['match([1, $([2])], [@, null])', 1, [2]],
    ['jsonParse', '{"a":[1]}', { a: [1] }],
    ['jsonParse', '{"id":12345678901234567890}', { id: '12345678901234567890' }],
    ['jsonStringify', { a: 1 }, '{"a":1}'],
    ['minorUnits(2)', 1999, '19.99'],
    ['minorUnits(2)', 5, '0.05'],
    ['minorUnits(2)', -5, '-0.05'],
    ['minorUnits(2)', 0, '0.00'],
    ['minorUnits(0)', 500, '500'],
    ['minorUnits(3)', '12345678901234567890', '12345678901234567.890'],
    ['decimal(2)', 20, '20.00'],
    ['decimal(2)', '19.9', '19.90'],
    ['decimal(2)', 19.999, '20.00'],
    ['decimal(2)', '0.005', '0.01'],
    ['decimal(2)', -0.001, '0.00'],
    ['decimal(2)', 1e-7, '0.00'],
    ['decimal(1)', 0.1 + 0.2, '0.3'],
    ['decimal(0)', '9.5', '10'],
    ['decimal(2)', '00012.30', '12.30'],
    ['toDateTime("unix")', 1_796_148_000, '2026-12-01T18:00:00Z'],
    ['toDateTime("unix")', 1.9, '1970-01-01T00:00:01Z'],
    ['toDateTime("unix")', 0, null],
    ['toDateTime("unix")', null, null],
    ['toDateTime("unix_ms")', 1_796_148_000_999, '2026-12-01T18:00:00Z'],
    ['toDateTime("sql_utc")', '2026-12-01 18:00:00', '2026-12-01T18:00:00Z'],
    ['toDateTime("sql_utc")', '0000-00-00 00:00:00', null],
    ['toDateTime("iso")', '2026-12-01T19:00:00+01:00', '2026-12-01T18:00:00Z'],
    ['toDateTime("sql_utc")', '2026-12-01', '2026-12-01T00:00:00Z'],
    // Without a time zone in the configuration
    ['toDateTime("iso")', '2026-12-01T19:00:00', '2026-12-01T19:00:00Z'],
    ['toDateTime("sql")', '2026-12-01 19:00', '2026-12-01T19:00:00Z'],
    ['toDateTime("sql")', '', null],
  ])('->%s of %j', (method, value, out) => {
    expect(select(`$->${method}`, value)).toEqual(out);
  });

  test.each<[method: string, value: unknown]>([
    ['gt(1)', '2'],
    ['contains(1)', 'abc'],
    ['map(@.a)', 'abc'],
    ['filter(@.a)', {}],
    ['find(@.a)', 1],
    ['entries', [1]],
    ['get(0)', 'ab'],
    ['slice(0)', 12],
    ['jsonParse', '{'],
    ['jsonParse', 1],
    ['minorUnits(2)', 19.99],
    ['minorUnits(2)', '19.99'],
    ['minorUnits(2)', 'x'],
    ['minorUnits(2)', 2 ** 60],
    ['decimal(2)', '1e3'],
    ['decimal(2)', '1,5'],
    ['decimal(2)', true],
    ['not', 1],
    ['div(2)', '4'],
    ['floor', 'x'],
    ['toString', {}],
    ['parseInt', '1e3'],
    ['parseInt', '99999999999999999'],
    ['first', 'ab'],
    ["joinNotNull(',')", [{}]],
    ['toDateTime("unix")', '1796148000'],
    ['toDateTime("unix")', 1e15],
    ['toDateTime("sql_utc")', '2026-13-01 00:00:00'],
    ['toDateTime("iso")', '2026-12-01T19:00:00 CET'],
    ['toDateTime("sql", "Europe/Madrid")', '01.12.2026'],
    ['toDateTime("sql", "Europe/Madrid")', '2026-13-01 00:00:00'],
    ['and(true)', 1],
    ['or(false)', 'yes'],
    ['div($(0))', 4],
    ['mul($("2"))', 4],
    ['split($(1))', 'a'],
    ['split(",")', 1],
    ['decode("html")', 7],
    ['flatten', 'ab'],
    ['flatten', [[1], 2]],
    ['map($)->flatten', Array.from({ length: 1001 }, (_, index) => index)],
    ['sortBy(@)', [1, 'a']],
    ['maxBy(@)', [{}]],
    ['minBy(@.a)', 'abc'],
  ])('->%s refuses %j', (method, value) => {
    expect(() => select(`$->${method}`, value)).toThrow(expect.objectContaining({ name: 'MappingValueError' }));
  });
});

test('each have a description of what they return', () => {
  const described = describeMethods();
  expect(described).toContainEqual({
    call: '->slice(number, [number])',
    about: 'the items of a list, or the characters of a text, from one index up to, but not including, another',
  });
  expect(described.filter(({ about }) => about.length < 6)).toEqual([]);
});

describe('values inserted into a request', () => {
  const path = parsePath('/v1/members/{$context.sub}/enrolments');
  const fill = (sub: unknown) => fillPath(path, { context: { sub } });

  test('are percent-encoded in a path', () => {
    expect(fill('m 1?#&é%2e!')).toBe('/v1/members/m%201%3F%23%26%C3%A9%252e%21/enrolments');
    expect(fill('auth0|12')).toBe('/v1/members/auth0%7C12/enrolments');
    expect(fill(12)).toBe('/v1/members/12/enrolments');
  });

  test.each(['', '.', '..', 'a/b', '../x', 'a\\b', 'a\u0000', 'a\r\nb', '\ud800', null, undefined, {}, [], Number.NaN])(
    'are refused in a path: %j',
    (sub) => {
      expect(() => fill(sub)).toThrow(expect.objectContaining({ name: 'MappingValueError' }));
    },
  );

  test('never leave their path segment', () => {
    const nasty = fc.constantFrom(
      '.',
      '..',
      '/',
      '\\',
      '%2e',
      '%2F',
      '?',
      '#',
      '\r\n',
      '\u0000',
      ';',
      ':',
      '@',
      '//',
      'a',
    );
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(nasty, { maxLength: 6 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(value, value, (first, second) => {
        let filled: string;
        try {
          filled = fillPath(parsePath('/a/{$args.x}.{$args.y}/b/{$args.x}/c'), { args: { x: first, y: second } });
        } catch (thrown) {
          expect(thrown).toMatchObject({ name: 'MappingValueError' });
          return;
        }
        // Every URL parser sees the five segments of the mapping, whatever their values.
        const url = new URL(filled, 'http://upstream.invalid');
        expect([url.host, url.search, url.hash]).toEqual(['upstream.invalid', '', '']);
        const segments = url.pathname.split('/');
        expect(segments.length).toBe(6);
        expect(segments.map(decodeURIComponent)).toEqual(['', 'a', `${first}.${second}`, 'b', first, 'c']);
        expect(filled).toMatch(/^[A-Za-z0-9\-._~%/]+$/);
      }),
      { numRuns: 2000 },
    );
  });

  test('stay within their query parameter', () => {
    const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean());
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), value), (params) => {
        const read = new URL(`http://upstream.invalid/${fillQuery(params)}`).searchParams;
        expect([...read]).toEqual(Object.entries(params).map(([name, item]) => [name, String(item)]));
      }),
    );
    expect(fillQuery({ a: null, b: ['x', 'y'], c: 'p,q' })).toBe('?b=x&b=y&c=p%2Cq');
    expect(() => fillQuery({ a: {} })).toThrow();
  });

  test('cannot end a header line', () => {
    const template = parseTemplate('Member {$context.name}');
    expect(fillHeader(template, { context: { name: 'A B' } })).toBe('Member A B');
    for (const name of ['a\r\nx-member-id: m-2', 'a\nb', 'a\u0000', 'é', null]) {
      expect(() => fillHeader(template, { context: { name } })).toThrow();
    }
  });
});

test('integers beyond 2^53 keep their digits', () => {
  expect(
    parseJson('{"a":9007199254740993,"b":9007199254740991,"c":1.0000000000000000001,"__proto__":{"x":1}}'),
  ).toMatchObject({
    a: '9007199254740993',
    b: 9007199254740991,
    c: 1,
  });
  expect(({} as Record<string, unknown>).x).toBeUndefined();
});

test('integers beyond 2^53 keep their digits wherever they are in the text', () => {
  for (let before = 0; before < 40; before += 1) {
    const text = `{"a":"${'x'.repeat(before)}","b":9007199254740993,"c":123456789012345}`;
    expect(parseJson(text)).toEqual({ a: 'x'.repeat(before), b: '9007199254740993', c: 123456789012345 });
  }
});
