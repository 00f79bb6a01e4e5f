import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  readonly caFile: string;
  /** PEM. */
  readonly ca: string;
  /** Issues a certificate for a host name or an IP address, valid for `days` from now. A negative number gives an expired one. */
  issue(host: string, days?: number): Certificate;
  close(): void;
}

const DAY = 86_400_000;

/** A certificate authority for one test, run by openssl. */
export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-tls-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=Test CA');
  // Only `openssl ca` lets us set both the start and the end of the validity.
  writeFileSync(at('index.txt'), '');
  writeFileSync(at('serial'), '1000\n');
  writeFileSync(
    at('ca.cnf'),
    `[ca]
default_ca=own
[own]
database=index.txt
serial=serial
new_certs_dir=.
certificate=ca.crt
private_key=ca.key
default_md=sha256
policy=any
copy_extensions=copy
unique_subject=no
[any]
commonName=supplied
`,
  );
  const time = (days: number) => new Date(Date.now() + days * DAY).toISOString().replace(/[-:T]|\.\d+/g, '');
  let count = 0;
  return {
    caFile: at('ca.crt'),
    ca: readFileSync(at('ca.crt'), 'utf8'),
    issue(host, days = 1) {
      count += 1;
      const name = `leaf${count}`;
      const san = `subjectAltName=${isIP(host) === 0 ? 'DNS' : 'IP'}:${host}`;
      openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${host}`, '-addext', san);
      const validity = ['-startdate', time(-10), '-enddate', time(days)];
      openssl('ca', '-batch', '-config', 'ca.cnf', '-in', `${name}.csr`, '-out', `${name}.crt`, '-notext', ...validity);
      const [certFile, keyFile] = [at(`${name}.crt`), at(`${name}.key`)];
      return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
