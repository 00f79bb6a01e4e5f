import { createPrivateKey, X509Certificate } from 'node:crypto';
import { PEM, readPem } from './pem.ts';
import type { Finding } from './problems.ts';
import { readNamed } from './secrets.ts';
import type { Environment } from './setting.ts';
import type { SourceFiles } from './source-files.ts';
import { type Tree, valueAt } from './tree.ts';

/** The secrets and keys that `admin` refers to. Kept out of `Config`, which may be printed. */
export interface AdminSecrets {
  /** Secrets that sign commands, the current one first. Empty: signed commands are refused. */
  readonly hmac: readonly string[];
  /** PEM texts. Undefined: the admin listener speaks plain HTTP and accepts no client certificates. */
  readonly mtls: { readonly cert: string; readonly key: string; readonly clientCa: string } | undefined;
}

const SHORTEST = 32;

/** Reads the secrets and keys. Each one that cannot be used is a finding. */
export async function readAdminSecrets(
  tree: Tree,
  environment: Environment,
  files: SourceFiles,
): Promise<{ readonly secrets: AdminSecrets; readonly findings: readonly Finding[] }> {
  const shared = (name: string) =>
    readNamed(valueAt(tree, ['admin', 'hmac', name]), ['admin', 'hmac', name], environment, files, (value) =>
      value.length >= SHORTEST ? undefined : `must have at least ${SHORTEST} characters (openssl rand -base64 32)`,
    );
  const secret = await shared('secret');
  const previous = await shared('previous');
  const cert = await readPem(tree, ['admin', 'mtls', 'cert'], PEM.certificate, files);
  const key = await readPem(tree, ['admin', 'mtls', 'key'], PEM.key, files);
  const clientCa = await readPem(tree, ['admin', 'mtls', 'clientCa'], PEM.authority, files);
  const complete =
    cert.value === undefined || key.value === undefined || clientCa.value === undefined
      ? undefined
      : { cert: cert.value, key: key.value, clientCa: clientCa.value };
  const flaw = complete === undefined ? undefined : flawOf(complete);
  return {
    secrets: {
      hmac: [secret.value, previous.value].filter((value) => value !== undefined),
      mtls: flaw === undefined ? complete : undefined,
    },
    findings: [
      ...[secret, previous, cert, key, clientCa].flatMap(({ findings }) => findings),
      ...(flaw === undefined ? [] : [flaw]),
    ],
  };
}

/** Finds mistakes that would otherwise surface as an obscure TLS error when the listener opens. */
function flawOf({ cert, key, clientCa }: NonNullable<AdminSecrets['mtls']>): Finding | undefined {
  const at = (name: string, message: string): Finding => ({ path: ['admin', 'mtls', name], at: 'value', message });
  const certificate = parsed(() => new X509Certificate(cert));
  if (certificate === undefined) return at('cert', 'has no readable certificate');
  const privateKey = parsed(() => createPrivateKey(key));
  if (privateKey === undefined) return at('key', 'has no private key that can be read without a passphrase');
  if (!certificate.checkPrivateKey(privateKey)) return at('key', 'is not the key of admin.mtls.cert');
  if (parsed(() => new X509Certificate(clientCa)) === undefined) return at('clientCa', 'has no readable certificate');
  return undefined;
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
