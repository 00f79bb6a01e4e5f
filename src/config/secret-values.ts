import { createPrivateKey, X509Certificate } from 'node:crypto';
import { eventKey } from '../events/settings.ts';
import { isSqlKind } from '../storage/sql/settings.ts';
import type { UntracedProblem } from './problems.ts';
import { requiredSecret, type SecretValues } from './read-secrets.ts';
import type { Config } from './schema.ts';
import { formatPath } from './tree.ts';

export type RedisSecrets = ReturnType<typeof redisSecrets>;

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
    databaseUrl: isSqlKind(config.store.kind) ? requiredSecret(values, 'store.url') : undefined,
    /** `hmac`: the current one first; empty: signed commands are refused. `mtls`: PEM texts; undefined: plain HTTP. */
    admin: { hmac: all('admin.hmac.secret', 'admin.hmac.previous'), mtls: mtlsOf(values) },
    /** The secrets of `admin.webhooks`, by name. */
    webhookSecrets: new Map(
      Object.keys(config.admin.webhooks).map((name) => [
        name,
        requiredSecret(values, formatPath(['admin', 'webhooks', name, 'secret'])),
      ]),
    ),
    /** The current one first; empty when no events are sent. */
    eventKeys: all('events.secret', 'events.previous').map(eventKey),
    /** Undefined: apps need none to register. */
    initialAccessToken: values.get('clients.registration.initialAccessToken'),
    /** Undefined: the backend is asked without one. */
    recheckKey: values.get('login.recheck.key.secret'),
    resourceServers: new Map(
      servers.map((name) => [name, requiredSecret(values, formatPath(['clients', 'resourceServers', name, 'secret']))]),
    ),
    /** What mappings of the Account API can use as $config: values written in the file, and secrets. */
    accountConfig: accountConfig(config.account?.config ?? {}, values),
  };
}

function redisSecrets(values: SecretValues) {
  const tls = ['ca', 'cert', 'key'].flatMap((key) => {
    const text = values.get(`store.tls.${key}`);
    return text === undefined ? [] : [[key, text] as const];
  });
  return {
    url: values.get('store.url'),
    password: values.get('store.password'),
    sentinelPassword: values.get('store.sentinelPassword'),
    /** PEM texts. */
    tls: Object.fromEntries(tls) as Partial<Record<'ca' | 'cert' | 'key', string>>,
  };
}

function accountConfig(given: NonNullable<Config['account']>['config'], values: SecretValues) {
  const open = Object.entries(given).flatMap(([name, value]) =>
    typeof value === 'object' ? [] : [[name, value] as const],
  );
  const secret = Object.keys(given).flatMap((name) => {
    const value = values.get(`account.config.${name}`);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { open: Object.fromEntries(open), secret: Object.fromEntries(secret) };
}

function mtlsOf(values: SecretValues) {
  const [cert, key, clientCa] = ['cert', 'key', 'clientCa'].map((name) => values.get(`admin.mtls.${name}`));
  return cert === undefined || key === undefined || clientCa === undefined ? undefined : { cert, key, clientCa };
}

/** Finds mistakes that would otherwise surface as an obscure TLS error when the admin listener opens. */
export function checkCertificates(values: SecretValues): readonly UntracedProblem[] {
  const mtls = mtlsOf(values);
  if (mtls === undefined) return [];
  const at = (name: string, message: string): UntracedProblem[] => [
    { path: ['admin', 'mtls', name], at: 'value', message },
  ];
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
