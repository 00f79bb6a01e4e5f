import { readFileSync } from 'node:fs';

const PAGE = readFileSync(new URL('../../docs/login/README.md', import.meta.url), 'utf8');

/** What a login can say about a member, as the documentation lists it: setting, claim, scope and header field. */
export const DOCUMENTED_DETAILS = [...PAGE.matchAll(/^\| `(\w+)` \| `(\w+)` \| `(\w+)` \| `(X-Member-\w+)` \|$/gm)].map(
  ([, setting = '', claim = '', scope = '', header = '']) => ({ setting, claim, scope, header }),
);
