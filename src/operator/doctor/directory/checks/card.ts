import { objectOf } from '../../../../http/json-object.ts';
import { strings } from '../../answer.ts';
import { checkEach, failure, pass } from '../../finding.ts';
import { listingChecks } from '../listing.ts';
import { unseen } from '../unseen.ts';

/** CSS pixels of a card in the chat. */
const TALLEST = 500;

/** Cards that tools show in the chat (MCP Apps). */
export const CARD = listingChecks(['cards'], {
  'card.size': ({ cards }) =>
    checkEach(`at most ${TALLEST} pixels`, cards, ({ uri, html }) => {
      const tall = [...html.matchAll(/height\s{0,9}:\s{0,9}(\d{1,6})px/gi)].find(([, px]) => Number(px) > TALLEST);
      const scrolls = /overflow(-y)?\s{0,9}:\s{0,9}(auto|scroll)/i.test(html);
      return [tall && failure(`${uri} has ${tall[0]}`), scrolls && failure(`${uri} scrolls within the card`)];
    }),
  'card.links'({ cards }) {
    const origins = cards.flatMap(({ html }) => html.match(/\bhttps?:\/\/[\w.-]{1,253}(:\d{1,5})?/g) ?? []);
    const open = origins.find((origin) => origin.startsWith('http:'));
    if (open !== undefined) return failure(`a card links to ${open}`);
    if (origins.length === 0) return pass('no card has a link');
    return unseen('card.links', `Name ${[...new Set(origins)].join(', ')} as allowed link URIs in the form.`);
  },
  'card.policy': ({ cards }) =>
    checkEach('each card names its domains', cards, ({ uri, ui }) => {
      const domains = Object.values(objectOf(ui.csp)).flatMap(strings);
      if (ui.csp === undefined) return failure(`${uri} has no _meta.ui.csp`);
      return domains.some((domain) => domain.includes('*')) && failure(`${uri} allows ${domains.join(', ')}`);
    }),
});
