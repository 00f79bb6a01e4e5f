import type { SiteCheck } from '../site.ts';
import { AUTHORIZATION } from './authorization.ts';
import { CACHES } from './caches.ts';
import { CHALLENGE } from './challenge.ts';
import { CORS } from './cors.ts';
import { EDGE } from './edge.ts';
import { ENDPOINTS } from './endpoints.ts';
import { MCP } from './mcp.ts';
import { REACH } from './reach.ts';
import { REGISTRATION } from './registration.ts';
import { RESOURCE_METADATA } from './resource-metadata.ts';
import { SERVER_METADATA } from './server-metadata.ts';

/** Every check, in the order of the report. */
export const CHECKS: readonly SiteCheck[] = [
  ...REACH,
  ...RESOURCE_METADATA,
  ...SERVER_METADATA,
  ...ENDPOINTS,
  ...CHALLENGE,
  ...CORS,
  ...MCP,
  ...EDGE,
  ...CACHES,
  ...REGISTRATION,
  ...AUTHORIZATION,
];
