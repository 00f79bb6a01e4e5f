import type { DescribedService } from '../described-service.ts';
import { accessSections } from './access.ts';
import { plain } from './markdown.ts';
import { startSections } from './start.ts';

/**
 * Writes auth.md, the instructions for agents, in the order of the auth.md convention: discover, pick a method,
 * register, authorize, exchange, use, errors, revocation. All values are those of the running service.
 */
export function authMd(service: DescribedService): string {
  const { name } = service.config;
  const intro = `How an app or an agent gets access to ${plain(name)} on behalf of a member. This page is generated from the running configuration. If it ever differs from the metadata, the metadata is right.`;
  return `${['# auth.md', intro, ...startSections(service), ...accessSections(service)].join('\n\n')}\n`;
}
