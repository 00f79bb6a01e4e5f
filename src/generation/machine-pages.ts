import { accountPage, appsOnlyPage, documentPage } from '../authorization-server/pages/machine.ts';
import type { Pages } from '../authorization-server/pages/pages.ts';
import type { Config } from '../config/schema.ts';
import { DISCOVERY_PATHS } from '../discovery/paths.ts';
import type { Handler } from '../http/exchange.ts';
import type { Html } from '../http/html.ts';
import { PAGE_VARIES } from '../http/navigation.ts';
import { codePath, readInstalled } from '../installation.ts';
import type { RequestParts } from '../request/parts.ts';

/** A query of the contract that every member's token covers. */
const QUERY = readInstalled(codePath('generation/member-query.graphql')).toString('utf8').trimEnd();

export interface MachinePages extends Pick<RequestParts, 'appsOnly'> {
  readonly account: Handler;
  readonly document: (title: Parameters<typeof documentPage>[1], markup: () => Promise<Html>) => Handler;
}

/** What people get that open the address of something for programs in a browser. */
export function machinePages({ origin, account }: Config, pages: Pages): MachinePages {
  const documentation = DISCOVERY_PATHS.authMd;
  const vary = { vary: PAGE_VARIES };
  const view = {
    documentation,
    address: origin + account?.path,
    query: account?.documents?.only === true ? undefined : QUERY,
  };
  return {
    appsOnly(response, { status, headers: { 'content-type': _, ...headers } }) {
      pages.send(response, status, (words) => appsOnlyPage(words, status, documentation), { ...headers, ...vary });
    },
    account: ({ response }) => pages.send(response, 200, (words) => accountPage(words, view), vary),
    document:
      (title, markup) =>
      async ({ response }) => {
        const content = await markup();
        pages.send(response, 200, (words) => documentPage(words, title, content), vary);
      },
  };
}
