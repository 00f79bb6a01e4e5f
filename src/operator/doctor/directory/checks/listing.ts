import { lookup } from 'node:dns/promises';
import { socketHost } from '../../../../http/host.ts';
import { isPublicAddress } from '../../../../http/public-address.ts';
import { isLoopback } from '../../../connect/oauth/transport.ts';
import { isHtml, mediaType, text } from '../../answer.ts';
import { checkEach, failure, pass } from '../../finding.ts';
import { orNone, Unavailable } from '../../unavailable.ts';
import { listingChecks } from '../listing.ts';
import { objects } from '../tools.ts';
import { unseen } from '../unseen.ts';
import rules from './rules.json' with { type: 'json' };

/** What a directory shows of a deployment, from where its assistants reach it, and what its reviewers need. */
export const LISTING = [
  ...listingChecks(['cards'], {
    'card.links'({ cards }) {
      const origins = cards.flatMap(({ html }) => html.match(/\bhttps?:\/\/[\w.-]{1,253}(:\d{1,5})?/g) ?? []);
      const open = origins.find((origin) => origin.startsWith('http:'));
      if (open !== undefined) return failure(`a card links to ${open}`);
      if (origins.length === 0) return pass('no card has a link');
      return unseen('card.links', `Name ${[...new Set(origins)].join(', ')} as allowed link URIs in the form.`);
    },
  }),
  ...listingChecks([], {
    'listing.port'({ origin }) {
      const { port } = publicUrl(origin);
      return port === '' ? pass('443') : failure(`the port is ${port}`);
    },
    async 'listing.address'({ origin }) {
      const host = socketHost(publicUrl(origin).hostname);
      const found = await lookup(host, { family: 4, all: true }).catch(() => []);
      if (found.length === 0) return failure(`${host} has no IPv4 address`);
      return checkEach('a public IPv4 address', found, ({ address }) =>
        isPublicAddress(address) ? undefined : failure(`${host} is ${address}, which is not on the internet`),
      );
    },
    'listing.support': ({ own }) => (own?.support === undefined ? unseen('listing.support') : pass(own.support)),
    async 'listing.domain'({ ask, origin }) {
      const answer = await ask(`${origin}/.well-known/openai-apps-challenge`);
      if (answer.status !== 200) return unseen('listing.domain');
      return isHtml(answer) ? failure('a page is served there') : pass('a challenge is served');
    },
    ...Object.fromEntries(rules.unseen.map((id) => [id, () => unseen(id)])),
  }),
  ...listingChecks(['registration'], {
    'listing.callback': ({ directory, registration }) =>
      checkEach('accepted', rules.callbacks[directory], async (uri) => {
        const { client, answer } = await registration({ application_type: 'web', redirect_uris: [uri] });
        return client === undefined && failure(`${uri} is refused as a redirect URI (${answer.status})`);
      }),
  }),
  ...listingChecks(['serverInfo'], {
    async 'listing.icon'({ ask, origin, serverInfo }) {
      const icons = objects(serverInfo.icons).flatMap(({ src }) => text(src) ?? []);
      const named = icons.filter((src) => !src.startsWith('data:image/'));
      return checkEach('an image', icons.length > 0 ? named : ['/favicon.ico'], async (src) => {
        const answer = await ask(new URL(src, origin).href);
        const isImage = answer.status === 200 && mediaType(answer).startsWith('image/');
        return !isImage && failure(`${src} answers ${answer.status} ${mediaType(answer)}`.trim());
      });
    },
  }),
  // Whether what the metadata name is there.
  ...Object.entries(rules.published).flatMap(([id, names]) =>
    listingChecks(['server', 'resources'], {
      async [id]({ ask, server, resources: [resource] }) {
        const urls = new Set(
          names.flatMap((name) => text(server.document[name]) ?? text(resource.document[name]) ?? []),
        );
        if (urls.size === 0) return unseen(id);
        return checkEach([...urls].join(', '), urls, async (url) => {
          const status = (await orNone(ask(url)))?.status ?? 'nothing';
          return status !== 200 && failure(`${url} answers ${status}`);
        });
      },
    }),
  ),
];

/** The URL of a site that others can reach. */
function publicUrl(origin: string): URL {
  const url = new URL(origin);
  if (isLoopback(url.hostname)) throw new Unavailable('this machine is not on the internet: name the public address');
  return url;
}
