import { type Attempt, lines, product, refused } from '../support/attempt.ts';
import type { SchoolStand } from '../support/school-stand.ts';
import type { Family } from '../support/stand.ts';

/** Names that an attacker's page could use to reach a listener on loopback: they resolve to this machine. */
const FOREIGN = [
  ...['evil.test', 'evil.test:ADMIN', 'localhost.evil.test', 'localhost.evil.test:ADMIN', '127.0.0.1.evil.test:ADMIN'],
  ...['localtest.me:ADMIN', '127.0.0.1.nip.io:ADMIN', 'localhost@evil.test', 'evil.test:80', '0x7f000001.evil.test'],
];
const OWN = ['127.0.0.1:ADMIN', 'localhost:ADMIN', '[::1]:ADMIN'];
const PATHS = ['/metrics', '/observed', '/observed.json', '/keys', '/clients', '/members/m-1001/revoke', '/events'];
const PAGES = ['', lines('Origin: http://evil.test'), lines('Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: cors')];

/** Commands are authenticated, so the method is checked before Host: a 405 has no effect and reveals nothing. */
const REFUSED = [400, 401, 403, 405, 421];

export const adminHost: Family<SchoolStand> = {
  name: 'the admin listener under another name',
  attempts: ({ admin }) => {
    const port = new URL(admin).port;
    const send = (
      method: string,
      path: string,
      host: string,
      fields: string,
      expected: Attempt['expected'],
    ): Attempt => ({
      name: `${method} ${path} of ${host}, with ${fields.trim() || 'nothing'}`,
      to: 'admin',
      bytes: `${method} ${path} HTTP/1.1\r\n${lines(`Host: ${host.replace('ADMIN', port)}`, 'Connection: close')}${fields}\r\n`,
      expected,
    });
    return [
      ...product(product(PATHS, FOREIGN), PAGES).map(([[path, host], fields]) =>
        send('GET', path, host, fields, { ...refused(REFUSED), lacks: /coursegate_|<!doctype/i }),
      ),
      ...product(PATHS.slice(3), FOREIGN).map(([path, host]) =>
        send('POST', path, host, lines('Content-Length: 0'), refused(REFUSED)),
      ),
      // The listener's own names are served, which shows that the refusals above are caused by the name.
      ...OWN.map((host) => send('GET', '/metrics', host, '', { statuses: [200], has: /coursegate_/ })),
    ];
  },
};
