/** Targets and fields of a stranger without a token. Whatever a gateway makes of them, no backend may take them for a member's. */
export interface Outside {
  readonly what: string;
  readonly target: string;
  /** Whole lines. */
  readonly fields?: readonly string[];
  /** The request is the site's own but for its fields: it may come through without them. */
  readonly plain?: true;
}

const AS_MEMBER = ['X-Member-Id: 1001'];

/** Ways to an internal location of a gateway, by its name, and from there to a route. */
export function inside(name: string): readonly Outside[] {
  const first = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
  const targets = [
    ...['/', '/x', '/gate', '/to_back', '/asked/decision', '/asked/answer', '/to_client/503'].map((end) => name + end),
    ...['member/secret/x/../../..', 'pages/..', 'pages/x/%2e%2e/..', '.', '%2e', '', ';'].map(
      (before) => `${before}/${name}/to_back`,
    ),
    ...[
      '..;/member/x',
      '..%5cmember/x',
      '..\\member\\x',
      '..%2fmember/x',
      '%2e%2e/member/x',
      '%252e%252e/member/x',
    ].map((after) => `${name}/${after}`),
    ...[`${first}/to_back`, `${name}%2fto_back`, `${name}//to_back`, `${name}/to_back/`, `${name}/to_back#`],
    ...[`${name}/x?rest_route=/member/x`, `${name}/to_back?/member/x`],
  ];
  const tricks = [
    AS_MEMBER,
    [],
    [`X-Accel-Redirect: /${name}/to_back`, 'X-Original-URI: /public/x', 'X-Rewrite-URL: /public/x', ...AS_MEMBER],
  ];
  return targets.flatMap((target) =>
    tricks.map((fields) => ({ what: fields.join(', '), target: `/${target}`, fields })),
  );
}

/** Targets that a lenient backend may read as /member/x. */
const LENIENT = [
  ['an empty segment with a parameter', '/;/member/x'],
  ['an empty segment with a named parameter', '/;a=b/member/x'],
  ['a letter that is escaped twice', '/%256dember/x'],
  ['a letter whose escape is escaped', '/%25%36%64ember/x'],
  ['dots that are escaped twice', '/pages/%252e%252e/member/x'],
  ['one dot that is escaped twice', '/%252e/member/x'],
  ['a slash that is escaped twice', '/pages/..%252fmember/x'],
  ['a backslash that is escaped twice', '/pages/..%255cmember/x'],
  ['a dot segment with a parameter', '/pages/..;/member/x'],
  ['a dot segment with an escaped parameter', '/pages/..%3b/member/x'],
  ['an escaped backslash', '/pages/..%5cmember/x'],
  ['a backslash', '/pages/..\\member\\x'],
  ['a backslash at the beginning', '/\\member/x'],
  ['two slashes', '//member/x'],
  ['two slashes behind a dot segment', '/pages/..//member/x'],
  ['a segment that ends in a dot', '/member./x'],
  ['a segment that ends in a space', '/member%20/x'],
  ['overlong dots', '/pages/%c0%ae%c0%ae/member/x'],
  ['overlong slashes', '/pages%c0%af..%c0%afmember/x'],
  ['a fullwidth slash', '/pages/..%ef%bc%8fmember/x'],
  ['fullwidth letters', '/%ef%bd%8dember/x'],
  ['an invisible character', '/mem%e2%80%8bber/x'],
  ['a soft hyphen', '/member%c2%ad/x'],
  ['a byte that is not ASCII', '/pages/..\xc0\xafmember/x'],
  ['a line break', '/member%0a/x'],
  ['a tab', '/%09member/x'],
  ['a fragment', '/pages/x#/../../member/x'],
] as const;

const at = (target: string, what: string, ...fields: readonly string[]): Outside => ({
  what,
  target,
  fields,
  plain: true,
});

/** Identity fields at an address of the site, where nobody decides. */
const FORGED: readonly Outside[] = [
  at('/pages/x', 'an identity field', 'X-Member-Id: 1001'),
  at('/pages/x', 'an identity field twice', 'X-Member-Id: 1001', 'X-Member-Id: 1001'),
  at('/pages/x', 'an identity field twice, the first one empty', 'X-Member-Id:', 'X-Member-Id: 1001'),
  at(
    '/pages/x',
    'an identity field three times, two of them empty',
    'X-Member-Id:',
    'x-member-id: ',
    'X-MEMBER-ID: 1001',
  ),
  at('/pages/x', 'an identity field with underscores', 'X_Member_Id: 1001'),
  at('/pages/x', 'an identity field with one underscore', 'X-Member_Id: 1001'),
  at('/pages/x', 'an identity field with dots', 'X.Member.Id: 1001'),
  at('/pages/x', 'an identity field with tildes', 'X~Member~Id: 1001'),
  at('/pages/x', 'an empty identity field, then one with underscores', 'X-Member-Id:', 'X_Member_Id: 1001'),
  at('/pages/x', 'the app', 'X-Client-Id:', 'X-Client-Id: 1001'),
  at('/pages/x', 'the address of the member', 'X-Member-Email:', 'X-Member-Email: 1001'),
  at('/pages/x', 'the name of the member', 'X-Member-Name:', 'X-Member-Name: 1001'),
  at('/pages/x', 'the scope', 'X-Member-Scope:', 'X-Member-Scope: 1001'),
  at('/pages/x', 'an assertion', 'X-Coursegate-Assertion:', 'X-Coursegate-Assertion: 1001'),
  at('/public/x', 'an identity field at a route for anyone', 'X-Member-Id:', 'X-Member-Id: 1001'),
];

export const OUTSIDE: readonly Outside[] = [
  ...LENIENT.map(([what, target]) => ({ what: `${what}: ${target}`, target, fields: AS_MEMBER })),
  ...LENIENT.map(([what, target]) => ({ what: `${what}, and no field: ${target}`, target })),
  ...FORGED.map((one) => ({ ...one, what: `${one.what}: ${one.target}` })),
];

/** Targets of the site's own that look like the ones above, and must reach it as they were sent. */
export const PLAIN_TARGETS: readonly string[] = [
  '/pages/caf%C3%A9',
  '/pages/%E8%AF%BE%E7%A8%8B',
  '/pages/a%20b.html',
  '/pages/.well-known',
  '/pages/v1.2/~ann/(a),b',
  '/pages/x?next=//evil.test/../member;a=b%2f%5c',
  "/pages/!$&'*+,=:@x",
];
