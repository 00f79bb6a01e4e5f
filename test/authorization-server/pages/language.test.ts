import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseLanguage } from '../../../src/authorization-server/pages/language.ts';
import { PAGE_LANGUAGES } from '../../../src/config/pages.ts';

const choose = (uiLocales: unknown, acceptLanguage?: string) => chooseLanguage(['en', 'es'], uiLocales, acceptLanguage);

describe('the language of a page', () => {
  it.each<[unknown, string]>([
    ['es', 'es'],
    ['es-MX', 'es'],
    ['ES-mx', 'es'],
    ['es-Latn-419-x-any', 'es'],
    ['fr-CA de es-ES en', 'es'],
    ['en es', 'en'],
    ['  es  ', 'es'],
  ])('follows ui_locales %o, regardless of the browser', (uiLocales, language) => {
    expect(choose(uiLocales, 'en')).toEqual({ language, asked: false });
    expect(choose(uiLocales, 'es')).toEqual({ language, asked: false });
  });

  it.each<[string | undefined, string]>([
    ['es', 'es'],
    ['es-419,es;q=0.9,en;q=0.8', 'es'],
    ['en;q=0.2, es;q=0.9', 'es'],
    ['de, fr;q=0.9', 'en'],
    ['de, es;q=0', 'en'],
    ['*', 'en'],
    ['', 'en'],
    [undefined, 'en'],
    ['es;q=nonsense', 'en'],
  ])('otherwise follows Accept-Language %o', (acceptLanguage, language) => {
    for (const uiLocales of [undefined, '', 'fr', 'estonian', ['es'], 7]) {
      expect(choose(uiLocales, acceptLanguage)).toEqual({ language, asked: true });
    }
  });

  const regional = ['en', 'pt-BR', 'zh-Hant', 'zh', 'de-CH'];

  it.each<[string, string]>([
    ['pt-BR', 'pt-BR'],
    ['PT-br-x-any', 'pt-BR'],
    // The same language in the same script comes before what is wished for less.
    ['pt-PT en', 'pt-BR'],
    ['pt en', 'pt-BR'],
    ['zh-Hant-HK', 'zh-Hant'],
    ['zh-TW', 'zh'],
    ['zh-SG', 'zh'],
    ['sr-Latn pt', 'pt-BR'],
    ['de', 'de-CH'],
    ['de-1996-x-y', 'de-CH'],
    ['* de', 'de-CH'],
  ])('has the region that %s asks for, or the nearest one', (uiLocales, language) => {
    expect(chooseLanguage(regional, uiLocales, undefined).language).toBe(language);
  });

  it('is not the same language in another script', () => {
    expect(chooseLanguage(['en', 'zh-Hant'], 'zh', undefined).language).toBe('en');
    expect(chooseLanguage(['en', 'zh-Hant'], 'zh-TW', undefined).language).toBe('zh-Hant');
  });

  it('otherwise is the first configured one', () => {
    expect(chooseLanguage(['es', 'en'], undefined, undefined)).toEqual({ language: 'es', asked: true });
  });

  it('is the only configured one, whatever is requested', () => {
    expect(chooseLanguage(['es'], 'en', 'en')).toEqual({ language: 'es', asked: false });
  });

  it('is always a configured one, whatever is sent', () => {
    const hostile = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '"><script>', 'es\r\nX: y', '-'));
    fc.assert(
      fc.property(hostile, hostile, (uiLocales, acceptLanguage) => {
        expect(PAGE_LANGUAGES).toContain(choose(uiLocales, acceptLanguage).language);
      }),
    );
    expect(choose(`${'x '.repeat(5000)}es`).language).toBe('en');
    expect(choose('x-'.repeat(5000), 'y,'.repeat(5000)).language).toBe('en');
  });
});
