import { z } from 'zod';
import { HEADER_VALUE, secret } from '../config/secret.ts';

/** A Unix socket, or a TCP address as net.Server.listen takes it. */
export type DecisionAddress = { readonly path: string } | { readonly host: string; readonly port: number };

const ADDRESS =
  /^(?:unix:(?<path>\/[\x21-\x7E]{1,100})|(?:\[(?<six>[0-9A-Fa-f:.]+)\]|(?<host>[A-Za-z0-9.-]+)):(?<port>\d{1,5}))$/;

const address = z
  .string()
  .refine(
    (text) => Number(ADDRESS.exec(text)?.groups?.port ?? (ADDRESS.test(text) ? 0 : 65_536)) <= 65_535,
    'must be unix:/PATH or HOST:PORT, such as unix:/run/coursegate/decisions.sock or 127.0.0.1:9092',
  )
  .transform((text): DecisionAddress => {
    const { path, six, host = '', port } = ADDRESS.exec(text)?.groups ?? {};
    return path === undefined ? { host: six ?? host, port: Number(port) } : { path };
  });

/** The listener that gateways ask about requests: plugin mode. */
export const decisions = z.strictObject({ address, secret: secret(HEADER_VALUE).optional() }).optional();

/** Who forwards the requests of a route. */
export const forwardedBy = z.enum(['coursegate', 'gateway']).optional();
