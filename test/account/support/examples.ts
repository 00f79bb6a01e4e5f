/** One example of the reference: a selection, its input and its result. The page shows it and a test runs it. */
export interface Example {
  readonly selection: string;
  readonly data: unknown;
  readonly gives: unknown;
  /** The values of the variables, if the example has any. */
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The `timeZone` of the configuration, if it matters. */
  readonly timeZone?: string;
}

const COURSE = { id: 7, course: { slug: 'knots', 'full title': 'Knots' }, tags: [{ name: 'rope' }, { name: 'sea' }] };

/** The constructs of the language besides its methods, each with its purpose. */
export const CONSTRUCTS: readonly (Example & { readonly about: string })[] = [
  { about: 'A key of that name', selection: 'id', data: COURSE, gives: { id: 7 } },
  { about: 'Under another name, by a path', selection: 'slug: course.slug', data: COURSE, gives: { slug: 'knots' } },
  {
    about: 'A key that is no name',
    selection: 'title: course."full title"',
    data: COURSE,
    gives: { title: 'Knots' },
  },
  {
    about: 'A missing key is null, at any depth',
    selection: 'a: course.rating.stars',
    data: COURSE,
    gives: { a: null },
  },
  {
    about: 'The fields of an object; of a list, of each of its items',
    selection: 'course { slug }  tags { name }',
    data: COURSE,
    gives: { course: { slug: 'knots' }, tags: [{ name: 'rope' }, { name: 'sea' }] },
  },
  {
    about: 'An object made of fields beside one another',
    selection: 'price: { amount: cents->minorUnits(2)  currencyCode: currency }',
    data: { cents: 1999, currency: 'EUR' },
    gives: { price: { amount: '19.99', currencyCode: 'EUR' } },
  },
  {
    about: 'A key of a list: that key of its items',
    selection: 'tags: tags.name',
    data: COURSE,
    gives: { tags: ['rope', 'sea'] },
  },
  {
    about: 'The first that is not null',
    selection: 'name: nickname ?? name ?? $("nobody")',
    data: { nickname: null, name: 'Sam' },
    gives: { name: 'Sam' },
  },
  {
    about: 'A fixed value',
    selection: 'receiptUrl: $(null)  kind: $("course")',
    data: {},
    gives: { receiptUrl: null, kind: 'course' },
  },
  { about: 'The value at hand', selection: '$.data { id }', data: { data: { id: 1 } }, gives: { id: 1 } },
  {
    about: 'A variable',
    selection: 'email: email ?? $context.email',
    data: { email: null },
    gives: { email: 'sam@example.com' },
    variables: { context: { email: 'sam@example.com' } },
  },
  {
    about: 'In the argument of a method that goes through a list, `@` is the item',
    selection: 'open: tasks->filter(@.done->eq(false)).name',
    data: {
      tasks: [
        { name: 'a', done: true },
        { name: 'b', done: false },
      ],
    },
    gives: { open: ['b'] },
  },
  {
    about: 'In an argument, `$` is the object',
    selection: 'percent: $.done->mul(100)->div($.total)',
    data: { done: 3, total: 4 },
    gives: { percent: 75 },
  },
  {
    about: 'A list of values, such as the parts of a text',
    selection: 'url: $(["https://school.example/c/", $.course.slug])->joinNotNull("")',
    data: COURSE,
    gives: { url: 'https://school.example/c/knots' },
  },
  { about: 'A comment', selection: 'id # until the end of the line', data: COURSE, gives: { id: 7 } },
];

/** Examples by method name. */
export const METHOD_EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  eq: [
    { selection: 'a: lifetime->eq(1)', data: { lifetime: 1 }, gives: { a: true } },
    { selection: 'a: lifetime->eq(1)', data: { lifetime: '1' }, gives: { a: false } },
  ],
  ne: [{ selection: 'a: status->ne("draft")', data: { status: 'draft' }, gives: { a: false } }],
  in: [{ selection: 'a: status->in(["paid", "free"])', data: { status: 'paid' }, gives: { a: true } }],
  contains: [{ selection: 'a: roles->contains("owner")', data: { roles: ['owner'] }, gives: { a: true } }],
  gt: [{ selection: 'a: seats->gt(0)', data: { seats: 0 }, gives: { a: false } }],
  gte: [{ selection: 'a: seats->gte(0)', data: { seats: 0 }, gives: { a: true } }],
  lt: [{ selection: 'a: seats->lt(5)', data: { seats: 4 }, gives: { a: true } }],
  lte: [{ selection: 'a: day->lte("2026-12-31")', data: { day: '2027-01-01' }, gives: { a: false } }],
  not: [{ selection: 'a: hidden->not', data: { hidden: true }, gives: { a: false } }],
  and: [
    {
      selection: 'a: $.open->and($.seats->gt(0))',
      data: { open: true, seats: 0 },
      gives: { a: false },
    },
    { selection: 'a: $.open->and($.paid)', data: { open: true, paid: null }, gives: { a: null } },
  ],
  or: [
    {
      selection: 'a: $.free->or($.role->in(["owner", "staff"]))',
      data: { free: false, role: 'staff' },
      gives: { a: true },
    },
    { selection: 'a: $.lifetime->eq(1)->or($.ends_at->isNull)', data: { ends_at: null }, gives: { a: true } },
  ],
  isNull: [{ selection: 'a: canceled_at->isNull', data: { canceled_at: null }, gives: { a: true } }],
  match: [
    {
      selection: 'a: status->match(["paid", "PAID"], ["void", "VOIDED"], [@, "UNKNOWN"])',
      data: { status: 'odd' },
      gives: { a: 'UNKNOWN' },
    },
    { selection: 'a: status->match(["paid", "PAID"], [@, @])', data: { status: 'void' }, gives: { a: 'void' } },
    {
      selection: 'a: $.total->match([0, null], [@, $.done->div($.total)])',
      data: { done: 0, total: 0 },
      gives: { a: null },
    },
  ],
  add: [{ selection: 'a: index->add(1)', data: { index: 0 }, gives: { a: 1 } }],
  sub: [{ selection: 'a: number->sub(1)', data: { number: 1 }, gives: { a: 0 } }],
  mul: [{ selection: 'a: seconds->mul(1000)', data: { seconds: 3 }, gives: { a: 3000 } }],
  div: [
    { selection: 'a: milliseconds->div(1000)', data: { milliseconds: 1500 }, gives: { a: 1.5 } },
    { selection: 'a: $.done->div($.total)', data: { done: 3, total: 4 }, gives: { a: 0.75 } },
  ],
  mod: [{ selection: 'a: seconds->mod(60)', data: { seconds: 61 }, gives: { a: 1 } }],
  floor: [{ selection: 'a: milliseconds->div(1000)->floor', data: { milliseconds: 1999 }, gives: { a: 1 } }],
  ceil: [{ selection: 'a: progress->ceil', data: { progress: 0.2 }, gives: { a: 1 } }],
  round: [{ selection: 'a: progress->round', data: { progress: 61.5 }, gives: { a: 62 } }],
  decimal: [
    { selection: 'a: price->decimal(2)', data: { price: 20 }, gives: { a: '20.00' } },
    { selection: 'a: price->decimal(2)', data: { price: '19.9' }, gives: { a: '19.90' } },
  ],
  minorUnits: [
    { selection: 'a: cents->minorUnits(2)', data: { cents: 5 }, gives: { a: '0.05' } },
    { selection: 'a: yen->minorUnits(0)', data: { yen: 1200 }, gives: { a: '1200' } },
  ],
  toString: [{ selection: 'a: id->toString', data: { id: 4711 }, gives: { a: '4711' } }],
  parseInt: [{ selection: 'a: id->parseInt', data: { id: '042' }, gives: { a: 42 } }],
  decode: [
    { selection: 'a: title->decode("html")', data: { title: 'Bob&#8217;s caf&eacute;' }, gives: { a: 'Bob’s café' } },
    { selection: 'a: title->decode("html")', data: { title: 'R&D &lt;b&gt;' }, gives: { a: 'R&D <b>' } },
  ],
  split: [
    {
      selection: 'a: link->split("/")->get(-2)',
      data: { link: 'https://school.example/courses/knots/' },
      gives: { a: 'knots' },
    },
  ],
  first: [{ selection: 'a: tags->first', data: { tags: ['x', 'y'] }, gives: { a: 'x' } }],
  last: [{ selection: 'a: tags->last', data: { tags: ['x', 'y'] }, gives: { a: 'y' } }],
  get: [{ selection: 'a: tags->get(-2)', data: { tags: ['x', 'y', 'z'] }, gives: { a: 'y' } }],
  size: [{ selection: 'a: tags->size', data: { tags: ['x', 'y'] }, gives: { a: 2 } }],
  slice: [
    { selection: 'a: tags->slice(1, 3)', data: { tags: ['w', 'x', 'y', 'z'] }, gives: { a: ['x', 'y'] } },
    { selection: 'a: code->slice(2)', data: { code: 'c-4711' }, gives: { a: '4711' } },
  ],
  map: [
    { selection: 'a: prices->map(@->minorUnits(2))', data: { prices: [100, 250] }, gives: { a: ['1.00', '2.50'] } },
  ],
  filter: [
    {
      selection: 'a: rows->filter(@.own->eq(true)).id',
      data: { rows: [{ id: 1, own: true }, { id: 2 }] },
      gives: { a: [1] },
    },
    {
      selection: 'a: rows->filter(@.user->eq($context.sub)).id',
      data: {
        rows: [
          { id: 1, user: 'm-1' },
          { id: 2, user: 'm-2' },
        ],
      },
      variables: { context: { sub: 'm-1' } },
      gives: { a: [1] },
    },
  ],
  find: [
    {
      selection: 'a: meta->find(@.key->eq("slug")).value',
      data: { meta: [{ key: 'slug', value: 'knots' }] },
      gives: { a: 'knots' },
    },
  ],
  flatten: [
    {
      selection: 'a: lessons.resources->flatten->maxBy(@.seen) { id }',
      data: {
        lessons: [
          {
            resources: [
              { id: 1, seen: 5 },
              { id: 2, seen: 9 },
            ],
          },
          { resources: null },
          { resources: [{ id: 3, seen: 7 }] },
        ],
      },
      gives: { a: { id: 2 } },
    },
  ],
  sortBy: [
    {
      selection: 'a: rows->sortBy(@.at).id',
      data: { rows: [{ id: 1, at: '2026-03-01' }, { id: 2 }, { id: 3, at: '2026-01-01' }] },
      gives: { a: [3, 1] },
    },
  ],
  maxBy: [
    {
      selection: 'a: lessons->maxBy(@.seen) { id }',
      data: {
        lessons: [
          { id: 1, seen: 5 },
          { id: 2, seen: 9 },
          { id: 3, seen: null },
        ],
      },
      gives: { a: { id: 2 } },
    },
    { selection: 'a: lessons->maxBy(@.seen) { id }', data: { lessons: [{ id: 1 }] }, gives: { a: null } },
  ],
  minBy: [
    {
      selection: 'a: terms->minBy(@.until->toDateTime("unix")).name',
      data: {
        terms: [
          { name: 'year', until: 1_767_225_600 },
          { name: 'trial', until: 1_764_547_200 },
        ],
      },
      gives: { a: 'trial' },
    },
  ],
  entries: [
    {
      selection: 'a: courses->entries',
      data: { courses: { 12: 'open' } },
      gives: { a: [{ key: '12', value: 'open' }] },
    },
  ],
  joinNotNull: [
    { selection: "a: names->joinNotNull(' ')", data: { names: ['Sam', null, 'Lee'] }, gives: { a: 'Sam Lee' } },
  ],
  jsonParse: [{ selection: 'a: extra->jsonParse.level', data: { extra: '{"level":3}' }, gives: { a: 3 } }],
  jsonStringify: [{ selection: 'a: extra->jsonStringify', data: { extra: { level: 3 } }, gives: { a: '{"level":3}' } }],
  toDateTime: [
    { selection: 'a: at->toDateTime("unix")', data: { at: 1_767_225_600 }, gives: { a: '2026-01-01T00:00:00Z' } },
    { selection: 'a: at->toDateTime("unix")', data: { at: 0 }, gives: { a: null } },
    {
      selection: 'a: at->toDateTime("unix_ms")',
      data: { at: 1_767_225_600_000 },
      gives: { a: '2026-01-01T00:00:00Z' },
    },
    {
      selection: 'a: at->toDateTime("sql")',
      data: { at: '2026-01-01 08:30:00' },
      timeZone: 'America/New_York',
      gives: { a: '2026-01-01T13:30:00Z' },
    },
    {
      selection: 'a: at->toDateTime("sql", "Asia/Kolkata")',
      data: { at: '2026-01-01 08:30:00' },
      gives: { a: '2026-01-01T03:00:00Z' },
    },
    {
      selection: 'a: at->toDateTime("sql")',
      data: { at: '2026-07-01' },
      timeZone: 'America/New_York',
      gives: { a: '2026-07-01T04:00:00Z' },
    },
    {
      selection: 'a: at->toDateTime("sql_utc")',
      data: { at: '2026-01-01 08:30:00' },
      gives: { a: '2026-01-01T08:30:00Z' },
    },
    {
      selection: 'a: at->toDateTime("sql_utc")',
      data: { at: '2026-01-01T08:30:00' },
      gives: { a: '2026-01-01T08:30:00Z' },
    },
    { selection: 'a: at->toDateTime("sql_utc")', data: { at: '0000-00-00 00:00:00' }, gives: { a: null } },
    {
      selection: 'a: at->toDateTime("iso")',
      data: { at: '2026-01-01T09:30:00+01:00' },
      gives: { a: '2026-01-01T08:30:00Z' },
    },
    {
      selection: 'a: at->toDateTime("iso", "Europe/Madrid")',
      data: { at: '2026-01-01T09:30:00' },
      gives: { a: '2026-01-01T08:30:00Z' },
    },
  ],
};
