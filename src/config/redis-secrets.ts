import { PEM, readPem } from './pem.ts';
import type { Finding } from './problems.ts';
import { readNamed } from './secrets.ts';
import type { Environment } from './setting.ts';
import type { SourceFiles } from './source-files.ts';
import { type Tree, valueAt } from './tree.ts';

/** The secrets of a redis store. Kept out of `Config`, which may be printed. */
export interface RedisSecrets {
  /** May include a password. */
  readonly url: string | undefined;
  readonly password: string | undefined;
  readonly sentinelPassword: string | undefined;
  /** PEM texts. */
  readonly tls: Readonly<Partial<Record<'ca' | 'cert' | 'key', string>>>;
}

/** Reads the secrets of a redis store. Each one that cannot be used is a finding. */
export async function readRedisSecrets(
  tree: Tree,
  environment: Environment,
  files: SourceFiles,
): Promise<{ readonly secrets: RedisSecrets | undefined; readonly findings: readonly Finding[] }> {
  if (valueAt(tree, ['store', 'kind']) !== 'redis') return { secrets: undefined, findings: [] };
  const named = (key: string, problemOf: (value: string) => string | undefined = () => undefined) =>
    readNamed(valueAt(tree, ['store', key]), ['store', key], environment, files, problemOf);
  const pem = (key: string, label: RegExp) => readPem(tree, ['store', 'tls', key], label, files);

  const url = await named('url', (value) =>
    /^(rediss?:\/\/[^/]|unix:\/\/\/)/.test(value) && URL.canParse(value)
      ? undefined
      : 'must be a redis://, rediss:// or unix:/// URL',
  );
  const password = await named('password');
  const sentinelPassword = await named('sentinelPassword');
  const ca = await pem('ca', PEM.authority);
  const cert = await pem('cert', PEM.certificate);
  const key = await pem('key', PEM.key);
  return {
    secrets: {
      url: url.value,
      password: password.value,
      sentinelPassword: sentinelPassword.value,
      tls: {
        ...(ca.value === undefined ? {} : { ca: ca.value }),
        ...(cert.value === undefined ? {} : { cert: cert.value }),
        ...(key.value === undefined ? {} : { key: key.value }),
      },
    },
    findings: [url, password, sentinelPassword, ca, cert, key].flatMap(({ findings }) => findings),
  };
}
