/**
 * What went wrong in gateways that ask others about requests. Every case is one request, without a token unless
 * `asMember` is set, which a gateway must refuse or pass on without what the attacker wants.
 */
export interface Advisory {
  readonly id: string;
  readonly what: string;
  readonly target: string;
  readonly fields?: readonly string[];
  readonly asMember?: true;
  /** The request is an ordinary one but for its fields: it must come through, as exactly this target. */
  readonly admitted?: true;
}

const judgedElsewhere = (names: readonly string[]) => [
  ...names.map((name) => `${name}: /public/x`),
  ...['X-Forwarded-Method', 'X-Original-Method'].map((name) => `${name}: GET`),
];

export const ADVISORIES: readonly Advisory[] = [
  {
    id: 'CVE-2026-40575',
    what: 'the path that is judged comes from the client',
    target: '/member/x',
    fields: judgedElsewhere([
      'X-Forwarded-Uri',
      'X-Original-URI',
      'X-Original-URL',
      'X-Auth-Request-Redirect',
      'X-Rewrite-URL',
    ]),
  },
  {
    id: 'CVE-2025-64484',
    what: 'an identity field with underscores',
    target: '/public/x',
    fields: ['X_Forwarded_User: evil', 'X_Member_Id: evil'],
    admitted: true,
  },
  { id: 'GHSA-7rh7-c77v-6434', what: 'the query is judged as the path', target: '/member/x?/public/x' },
  { id: 'GHSA-pxq7-h93f-9jrg', what: 'a fragment in the path', target: '/member/x#/public/x' },
  { id: 'GHSA-pxq7-h93f-9jrg', what: 'a fragment behind a public path', target: '/public/x#/../../member/x' },
  {
    id: 'CVE-2026-35051',
    what: 'X-Forwarded-Prefix is passed on',
    target: '/member/x',
    fields: ['X-Forwarded-Prefix: /evil'],
    asMember: true,
    admitted: true,
  },
  {
    id: 'CVE-2026-39858',
    what: 'underscores beside the field that is set',
    target: '/member/x',
    fields: ['X_Member_Id: evil', 'X-Member_Id: evil', 'x_member_id: evil'],
    asMember: true,
    admitted: true,
  },
  {
    id: 'CVE-2026-54763',
    what: 'underscores in other families of fields',
    target: '/member/x',
    fields: ['X_Forwarded_For: evil', 'X_Forwarded_Proto: evil', 'X_Original_URL: /evil', 'Remote_User: evil'],
    asMember: true,
    admitted: true,
  },
  {
    id: 'Traefik 3.7.13',
    what: 'dots, which PHP reads as underscores',
    target: '/member/x',
    fields: ['X.Member.Id: evil', 'X.Authenticated.User: evil', 'X-Member.Id: evil'],
    asMember: true,
    admitted: true,
  },
  {
    id: 'CVE-2026-54764',
    what: 'X-Forwarded-Port is passed on',
    target: '/member/x',
    fields: ['X-Forwarded-Port: 6666evil'],
    asMember: true,
    admitted: true,
  },
  {
    id: 'GHSA-7r4p-vjf4-gxv4',
    what: 'the field stays if the answer has none',
    target: '/public/x',
    fields: ['X-Member-Id: evil', 'X-Member-Email: evil', 'X-Coursegate-Assertion: evil', 'X-Client-Id: evil'],
    admitted: true,
  },
  {
    id: 'GHSA-7r4p-vjf4-gxv4',
    what: 'one of several fields stays, because the member has no such attribute',
    target: '/member/x',
    fields: ['X-Member-Email: evil', 'X-Member-Name: evil'],
    asMember: true,
    admitted: true,
  },
  {
    id: 'GHSA-f59h-q822-g45g',
    what: 'underscores for a FastCGI backend',
    target: '/public/x',
    fields: ['X_Member_Email: evil', 'X_Coursegate_Assertion: evil'],
    admitted: true,
  },
  {
    id: 'CVE-2026-31908',
    what: 'a field of the client takes the place of one of the decision',
    target: '/member/x',
    fields: ['X-Member-Scope: evil', 'X-Coursegate-Answer: evil', 'X-Coursegate-Secret: evil'],
    asMember: true,
    admitted: true,
  },
  { id: 'CVE-2026-31908', what: 'fields in an escaped line break', target: '/public/x%0d%0aX-Member-Id:%20evil' },
  { id: 'GHSA-p224-6x5r-fjpm', what: 'dot segments', target: '/public/../member/x' },
  { id: 'GHSA-p224-6x5r-fjpm', what: 'dot segments in escapes', target: '/public/%2e%2e/member/x' },
  { id: 'GHSA-p224-6x5r-fjpm', what: 'dot segments behind the site', target: '/pages/../member/x' },
  {
    id: 'GHSA-vhr5-ggp3-qq85',
    what: 'X-Forwarded-Proto and -Host of the client are trusted',
    target: '/member/x',
    fields: ['X-Forwarded-Proto: evil', 'X-Forwarded-Host: evil.test', 'Forwarded: host=evil.test;proto=evil'],
    asMember: true,
    admitted: true,
  },
  {
    id: 'GHSA-r9fw-vxmp-hwf2',
    what: 'the path is encoded again',
    target: '/member/a%20b/%C3%A9%23?x=%2F%25',
    asMember: true,
    admitted: true,
  },
  { id: 'CVE-2026-73551', what: 'a dot segment with a parameter', target: '/public/..;x=y/member/x' },
  { id: 'CVE-2026-73553', what: 'a dot segment with an empty parameter', target: '/pages/..;/member/x' },
  { id: 'CVE-2026-73511', what: 'a parameter in a segment', target: '/member;x=y/x' },
  {
    id: 'GHSA-9g5w-hqr3-w2ph',
    what: 'bytes that are no text, in a field',
    target: '/member/x',
    fields: ['User-Agent: \xff\xfe'],
  },
  { id: 'GHSA-9g5w-hqr3-w2ph', what: 'bytes that are no text, in the path', target: '/member/\xff' },
  { id: 'GHSA-9g5w-hqr3-w2ph', what: 'escaped bytes that are no text', target: '/member/%ff%fe' },
];
