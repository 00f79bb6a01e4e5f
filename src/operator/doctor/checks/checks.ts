import type { Check } from '../check.ts';
import { AUTHORIZATION } from './authorization.ts';
import { CACHES } from './caches.ts';
import { CHALLENGE } from './challenge.ts';
import { COPIES } from './copies.ts';
import { CORS } from './cors.ts';
import { EDGE } from './edge.ts';
import { ENDPOINTS } from './endpoints.ts';
import { MCP } from './mcp.ts';
import { REACH } from './reach.ts';
import { REGISTRATION } from './registration.ts';
import { RESOURCE_METADATA } from './resource-metadata.ts';
import { SERVER_METADATA } from './server-metadata.ts';

/** Every check, in the order of the report. */
export const CHECKS: readonly Check[] = [
  ...REACH,
  ...RESOURCE_METADATA,
  ...SERVER_METADATA,
  ...COPIES,
  ...ENDPOINTS,
  ...CHALLENGE,
  ...CORS,
  ...MCP,
  ...EDGE,
  ...CACHES,
  ...REGISTRATION,
  ...AUTHORIZATION,
];

/** The heading of each theme in a report. */
export const THEMES: Readonly<Record<string, string>> = {
  reach: 'Reaching the site',
  resource: 'Metadata of the protected resource',
  server: 'Metadata of the authorization server',
  endpoint: 'Endpoints and keys',
  token: 'Token endpoint',
  introspection: 'Introspection',
  revocation: 'Revocation',
  challenge: 'Challenges',
  cors: 'Apps in a browser',
  mcp: 'Tool interface',
  edge: 'CDN, firewall and proxies',
  cache: 'Caches',
  registration: 'Registration',
  authorization: 'Authorization endpoint',
  documents: 'Client ID metadata documents',
};
