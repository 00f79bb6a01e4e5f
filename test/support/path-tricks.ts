/**
 * A number: refused with this status, and nothing reaches the upstream. A string: the request target that the upstream
 * sees.
 */
type Outcome = number | string;

/**
 * In `target`, PLACE is `/member` (needs a token) on the protected lane or `/pages` on the site, OPEN is `/public` or
 * `/pages`, and HOST is the gate's host. `anonymous` and `member` are the outcomes on the protected lane without and
 * with a token, `site` the outcome on the site lane. A row with only one outcome has it everywhere.
 */
export type Trick = readonly [check: string, target: string, anonymous: Outcome, member?: Outcome, site?: Outcome];

export const TRICKS: readonly Trick[] = [
  ['B040', '/UPPER/x', 404, 404, '/PAGES/x'],
  ['B041', '//PLACE/x', 400],
  ['B041', '///PLACE', 400],
  ['B041', 'OPEN//PLACE', 400],
  ['B041', 'OPEN/x//', 400],
  ['B042', '/.PLACE/x', 400],
  ['B042', 'OPEN/./x', 400],
  ['B043', 'OPEN/..PLACE/x', 400],
  ['B043', 'OPEN/x/../../member/x', 400],
  ['B044', 'OPEN/%2e%2ePLACE', 400],
  ['B044', 'OPEN/.%2ePLACE', 400],
  ['B044', 'OPEN/%2e.PLACE', 400],
  ['B044', 'OPEN/%2E%2EPLACE', 400],
  ['B045', 'OPEN/..%2fmember', 400],
  ['B045', 'OPEN/%2f..%2fmember', 400],
  ['B045', 'PLACE%2fx', 400],
  ['B045', 'OPEN%5cmember', 400],
  ['B046', 'OPEN/..;PLACE', 400],
  ['B046', 'PLACE;x/y', 400],
  ['B046', 'OPEN;/..PLACE', 400],
  ['B046', 'PLACE;%2f', 400],
  ['B046', 'PLACE%3bx', 400],
  ['B047', '/\\member', 400],
  ['B047', 'OPEN\\..\\member', 400],
  ['B048', 'ENCODED/x', 401, '/member/x', '/pages/x'],
  ['B048', '/%256dember/x', 400],
  ['B048', '/%25%36%64ember/x', 400],
  ['B049', 'PLACE.', 400],
  ['B049', 'PLACE%20', 400],
  ['B049', 'PLACE%09', 400],
  ['B049', 'PLACE%00', 400],
  ['B049', 'PLACE/.', 400],
  ['B050', '/%c0%ae%c0%aePLACE', 400],
  ['B050', 'OPEN/%ff', 400],
  ['B050', 'OPEN/%zz', 400],
  ['B050', 'OPEN/%', 400],
  ['B051', 'OPEN/\xef\xbc\x8f..PLACE', 400],
  ['B051', 'OPEN/%ef%bc%8fx', 400],
  ['B051', 'OPEN/\xef\xbc\x852fx', 400],
  ['B051', 'OPEN/\xe9', 400],
  ['B052', 'OPEN#/..PLACE', 400],
  ['B052', 'OPEN/a%23/x', 'OPEN/a%23/x', 'OPEN/a%23/x', 'OPEN/a%23/x'],
  ['B053', 'PLACE/x?OPEN', 401, '/member/x?/public', '/pages/x?/pages'],
  ['B053', 'PLACE/x?/OPEN/', 401, '/member/x?//public/', '/pages/x?//pages/'],
  ['B053', 'OPEN/x?/../member', 'OPEN/x?/../member', 'OPEN/x?/../member', 'OPEN/x?/../member'],
  ['B054', 'http://HOSTPLACE/x', 401, '/member/x', '/pages/x'],
  ['B054', 'HTTP://HOSTPLACE/x?y', 401, '/member/x?y', '/pages/x?y'],
  ['B054', 'http://evil.testPLACE/x', 400],
  ['B054', 'http://HOST.evil.testPLACE/x', 400],
  ['B054', 'http://x@HOSTPLACE/x', 400],
  ['B054', 'https://HOSTPLACE/x', 400],
  ['B054', 'ftp://HOSTPLACE/x', 400],
  ['B055', 'HOST', 400],
  ['B055', '*', 400],
  ['B056', '@evil.test/', 400],
  ['B056', 'evil', 400],
  ['B056', '', 400],
  ['B057', '/http://CANARY/', 400],
  ['B057', '//CANARY/', 400],
  ['B057', 'http://CANARY/', 400],
  ['B057', 'OPEN/http:/CANARY/', 'OPEN/http:/CANARY/', 'OPEN/http:/CANARY/', 'OPEN/http:/CANARY/'],
  ['B057', 'OPEN/x@CANARY', 'OPEN/x@CANARY', 'OPEN/x@CANARY', 'OPEN/x@CANARY'],
  ['B059', `OPEN/${'a'.repeat(9_000)}`, 414],
  ['B059', `OPEN/${'a'.repeat(17_000)}`, 431],
  ['B059', `OPEN${'/a'.repeat(4_500)}`, 414],
  ['B059', `OPEN${'/a'.repeat(10_000)}`, 431],
  ['B059', `OPEN?${'a=b&'.repeat(5_000)}`, 431],
];

/** Fills in the placeholders of a target. `canary` is a host that must never be connected to. */
export function fillTrick(
  text: string,
  { place, open, host, canary }: { place: string; open: string; host: string; canary: string },
): string {
  return text
    .replaceAll('PLACE', place)
    .replaceAll('OPEN', open)
    .replaceAll('ENCODED', `/%${place.charCodeAt(1).toString(16)}${place.slice(2)}`)
    .replaceAll('/UPPER', place.toUpperCase())
    .replaceAll('HOST', host)
    .replaceAll('CANARY', canary);
}
