import { createPrivateKey, X509Certificate } from 'node:crypto';
import { eventKey } from './events.ts';
import type { Finding } from './problems.ts';
import type { SecretValues } from './read-secrets.ts';
import type { Config } from './schema.ts';
import { formatPath } from './tree.ts';

/** The secrets and keys that `admin` refers to. */
export interface AdminSecrets {
  /** Secrets that sign commands, the current one first. Empty: signed commands are refused. */
  readonly hmac: readonly string[];
  /** PEM texts. Undefined: the admin listener speaks plain HTTP and accepts no client certificates. */
  readonly mtls: { readonly cert: string; readonly key: string; readonly clientCa: string } | undefined;
}

/** The secrets of a redis store. */
export interface RedisSecrets {
  /** May include a password. */
  readonly url: string | undefined;
  readonly password: string | undefined;
  readonly sentinelPassword: string | undefined;
  /** PEM texts. */
  readonly tls: Readonly<Partial<Record<'ca' | 'cert' | 'key', string>>>;
}

/** The values that mappings of the Account API can use as $config: those written in the file, and secrets. */
export interface AccountConfig {
  readonly open: Readonly<Record<string, string | number | boolean>>;
  readonly secret: Readonly<Record<string, string>>;
}

/** Distributes the secrets to those who use them. Kept out of `Config`, which may be printed. */
export function secretValues(config: Config, values: SecretValues) {
  const all = (...paths: readonly string[]) => paths.flatMap((path) => values.get(path) ?? []);
  const servers = Object.keys(config.clients.resourceServers);
  return {
    /** Every secret, by the path of the setting that names it: `login.secret`. */
    secrets: values,
    secret: values.get('secret'),
    furtherSecrets: all(...config.furtherSecrets.map((_, at) => `furtherSecrets[${at}]`)),
    redis: config.store.kind === 'redis' ? redisSecrets(values) : undefined,
    admin: { hmac: all('admin.hmac.secret', 'admin.hmac.previous'), mtls: mtlsOf(values) },
    eventKeys: all('events.secret', 'events.previous').map(eventKey),
    initialAccessToken: values.get('clients.registration.initialAccessToken'),
    recheckKey: values.get('login.recheck.key.secret'),
    resourceServers: new Map(
      servers.map((name) => [name, values.get(formatPath(['clients', 'resourceServers', name, 'secret'])) ?? '']),
    ),
    accountConfig: accountConfig(config.account?.config ?? {}, values),
  } satisfies {
    readonly admin: AdminSecrets;
    readonly redis: RedisSecrets | undefined;
    readonly [name: string]: unknown;
  };
}

function redisSecrets(values: SecretValues): RedisSecrets {
  const tls = ['ca', 'cert', 'key'].flatMap((key) => {
    const text = values.get(`store.tls.${key}`);
    return text === undefined ? [] : [[key, text] as const];
  });
  return {
    url: values.get('store.url'),
    password: values.get('store.password'),
    sentinelPassword: values.get('store.sentinelPassword'),
    tls: Object.fromEntries(tls),
  };
}

function accountConfig(given: NonNullable<Config['account']>['config'], values: SecretValues): AccountConfig {
  const open = Object.entries(given).flatMap(([name, value]) =>
    typeof value === 'object' ? [] : [[name, value] as const],
  );
  const secret = Object.keys(given).flatMap((name) => {
    const value = values.get(`account.config.${name}`);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { open: Object.fromEntries(open), secret: Object.fromEntries(secret) };
}

function mtlsOf(values: SecretValues): AdminSecrets['mtls'] {
  const [cert, key, clientCa] = ['cert', 'key', 'clientCa'].map((name) => values.get(`admin.mtls.${name}`));
  return cert === undefined || key === undefined || clientCa === undefined ? undefined : { cert, key, clientCa };
}

/** Finds mistakes that would otherwise surface as an obscure TLS error when the admin listener opens. */
export function checkCertificates(values: SecretValues): readonly Finding[] {
  const mtls = mtlsOf(values);
  if (mtls === undefined) return [];
  const at = (name: string, message: string): Finding[] => [{ path: ['admin', 'mtls', name], at: 'value', message }];
  const certificate = parsed(() => new X509Certificate(mtls.cert));
  if (certificate === undefined) return at('cert', 'has no readable certificate');
  const privateKey = parsed(() => createPrivateKey(mtls.key));
  if (privateKey === undefined) return at('key', 'has no private key that can be read without a passphrase');
  if (!certificate.checkPrivateKey(privateKey)) return at('key', 'is not the key of admin.mtls.cert');
  const authority = parsed(() => new X509Certificate(mtls.clientCa));
  return authority === undefined ? at('clientCa', 'has no readable certificate') : [];
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
