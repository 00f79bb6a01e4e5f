import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from '../config/fixture.ts';
import { startWorld, type World } from '../support/world.ts';
import { ask, askModern, tokenOf, toolNames } from './support/mcp.ts';

const META = { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } };

describe('the cards of the demo', () => {
  let world: World;
  let token: string;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    token = await tokenOf(world);
  });
  afterAll(() => world.close());

  it.each([askModern, ask])('are named by tools, listed and read, also at the endpoint of members', async (send) => {
    for (const sent of [{}, { token, path: '/mcp/member' }]) {
      const [tools, resources] = await Promise.all([
        send(world, 'tools/list', {}, sent),
        send(world, 'resources/list', {}, sent),
      ]);
      const uris = tools.body.result.tools.flatMap(
        ({ _meta }: { _meta: typeof META & { ui: { resourceUri: string } } }) =>
          _meta.ui === undefined ? [] : [_meta.ui.resourceUri],
      );
      expect(uris).toHaveLength('token' in sent ? 5 : 2);
      for (const uri of uris) {
        expect(uri).toMatch(/^ui:\/\/coursegate\/(catalogue|courses?|orders|approval)-[0-9a-f]{12}\.html$/);
        const name = uri.slice('ui://coursegate/'.length, -'-123456789012.html'.length);
        const mimeType = 'text/html;profile=mcp-app';
        expect(resources.body.result.resources).toContainEqual({ uri, name, mimeType, _meta: META });
        const { body } = await send(world, 'resources/read', { uri }, sent);
        expect(body.result.contents).toEqual([{ uri, mimeType, text: expect.any(String), _meta: META }]);
        const [{ text }] = body.result.contents;
        expect(text).toMatch(/^<!doctype html>\n<html lang="en">/);
        // Hosts allow no script, style, picture or font from elsewhere.
        expect(text).not.toMatch(
          /\b(?:src|href|action|import)\s*[=(]|url\(|@import|https?:\/\/|\bfetch\b|XMLHttpRequest/,
        );
      }
    }
    const { body } = await send(world, 'resources/read', { uri: 'ui://coursegate/orders-000000000000.html' });
    expect(body.error).toMatchObject({ code: -32_602 });
  });

  it('are announced as MCP Apps', async () => {
    const { body } = await askModern(world, 'server/discover');
    expect(body.result.capabilities.extensions).toHaveProperty(['io.modelcontextprotocol/ui'], {});
    expect(await toolNames(world)).toContain('search_courses');
  });
});

const WITH_CARD = (card: string, more = '') => `${SMALL}mcp:
  tools:
    - { name: a_tool, title: T, description: D, card: ${card}, get: { upstream: school, path: /x } }
${more}`;

describe('the template of an operator', () => {
  it('is a file beside the configuration, and one of ours is named without a suffix', async () => {
    const template =
      '<h2 data-text="title"></h2><ul><li data-each="items" data-most="3"><time data-text="at" data-format="date"></time></li></ul>';
    const { cards } = await load(WITH_CARD('cards/mine.html'), { files: { 'cards/mine.html': template } });
    expect([...cards]).toEqual([['cards/mine.html', template]]);
    expect([...(await load(WITH_CARD('orders'))).cards.keys()]).toEqual(['orders']);
  });

  it.each([
    ['<script>alert(1)</script>', 'has <script>: a card can have h2, h3, p'],
    ['<p><img data-text="a"></p>', 'has <img>: a card can have'],
    ['<a href="https://a.example">x</a>', 'has <a>: a card can have'],
    ['<style>p {}</style>', 'has <style>: a card can have'],
    ['<svg><script>1</script></svg>', 'has <svg>: a card can have'],
    ['<template><script>1</script></template>', 'has <template>: a card can have'],
    ['<p><form><button></button></form></p>', 'has <form>: a card can have'],
    ['<button onclick="1">x</button>', 'has the attribute onclick: a card can have data-each'],
    ['<p style="color: red">x</p>', 'has the attribute style: a card can have'],
    ['<p id="card">x</p>', 'has the attribute id: a card can have'],
    ['<p data-text="a" data-format="euro"></p>', 'has the format "euro": there are date, money, cents, percent'],
  ])('is refused with %s', async (template, message) => {
    const found = await mistakes(WITH_CARD('mine.html'), { files: { 'mine.html': template } });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^gate\.yaml:16:\d+ {2}mcp\.tools\[0\]\.card: mine\.html has /);
    expect(found[0]).toContain(`mine.html ${message}`);
  });

  it('is refused when it is missing, or has more than 64 KiB', async () => {
    expect((await mistakes(WITH_CARD('mine.html')))[0]).toContain('card: cannot read mine.html: there is no such file');
    const files = { 'mine.html': 'x'.repeat(65_537) };
    expect((await mistakes(WITH_CARD('mine.html'), { files }))[0]).toContain('at most 65536 (64 KiB) are allowed');
  });
});
