import { objectOf } from '../../../http/json-object.ts';
import { FINDERS } from '../facts/finders.ts';
import type { FactFinders } from '../find-facts.ts';
import { Unavailable } from '../unavailable.ts';
import { callReaders } from './calls.ts';
import type { ExaminedListing, ListingFacts } from './listing.ts';
import { listTools, messageIn, readCard } from './tools.ts';

/** Cards that are read. */
const MOST_CARDS = 20;

/** How each fact about a deployment that is to be listed is found out. */
export const LISTING_FINDERS: FactFinders<ExaminedListing, ListingFacts> = {
  ...FINDERS,
  toolServer: async ({ ask, token }, find) => ({ ask, token, url: (await find('mcp')).url }),
  tools: async (_site, find) => listTools(await find('toolServer')),
  async calls(_site, find) {
    const calls = await callReaders(await find('toolServer'), await find('tools'));
    if (calls.length > 0) return calls;
    throw new Unavailable('there is no read-only tool that can be called: give a token with --token');
  },
  async cards(_site, find) {
    const server = await find('toolServer');
    const uris = (await find('tools')).flatMap(({ card }) => card ?? []);
    const cards = [...new Set(uris)].slice(0, MOST_CARDS).map((uri) => readCard(server, uri));
    return Promise.all(cards);
  },
  serverInfo: async (_site, find) => objectOf(objectOf(messageIn((await find('mcp')).answer)?.result).serverInfo),
};
