// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ANSI = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
/** Zero-width characters, direction overrides, fillers, tags, and the variation selectors that no emoji uses. */
const INVISIBLE =
  /\u034F|\u17B4|\u17B5|[\u180B-\u180F]|[\u00AD\u061C\u115F\u1160\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB]|[\uFE00-\uFE0D]|[\u{E0000}-\u{E0FFF}]|[\u{1D173}-\u{1D17A}]/gu;
/** Selectors of text or emoji presentation. Only an emoji has one, and only one. */
const STRAY_PRESENTATION = /(?<!\p{Emoji})[\uFE0E\uFE0F]/gu;
const JOINERS = /[\u200C\u200D]+/g;

/**
 * Removes characters that people cannot see but a model reads: terminal escape sequences, control characters,
 * zero-width characters, tags, direction overrides and stray variation selectors. The result is well-formed Unicode
 * with \n as line end.
 */
export function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(ANSI, '')
    .replace(/\r\n?/g, '\n')
    .replace(CONTROL, '')
    .replace(INVISIBLE, '')
    .replace(STRAY_PRESENTATION, '')
    .replace(JOINERS, joiner);
}

/**
 * Joiners are needed in Persian, Hindi and family emoji, one at a time. Next to ASCII letters they only hide
 * something.
 */
function joiner(run: string, at: number, text: string): string {
  const belongs = text.charCodeAt(at - 1) >= 0x80 && text.charCodeAt(at + run.length) >= 0x80;
  return belongs ? run.charAt(0) : '';
}
