import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isPosing, posingOf } from '../../../src/authorization-server/pages/posing.ts';
import { leastCost } from '../../support/pace.ts';

const SCHOOL = 'Harbour Lane School';

/** Each prototype in Unicode's table, and the characters confusable with it. */
const PROTOTYPES: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('../../../src/authorization-server/rules/confusables.json', import.meta.url), 'utf8'),
).prototypes;

/** The characters that Unicode calls confusable with a letter: all that have the same prototype. */
function lookalikesOf(letter: string): readonly string[] {
  const [prototype = letter] = Object.entries(PROTOTYPES).find(([, alike]) => [...alike].includes(letter)) ?? [];
  return [prototype, ...(PROTOTYPES[prototype] ?? '')].filter((one) => one !== letter);
}

describe('detecting that an app poses as the school', () => {
  it.each([
    'Harbour Lane School',
    'HARBOUR  LANE—SCHOOL',
    'HarbourLaneSchool',
    'Harb0ur 1ane Schoo|',
    'Нarbоur Lаnе Sсhооl', // Cyrillic Н, о, а, е, с
    'Ηarbour Lane School', // Greek Η
    'Ｈａｒｂｏｕｒ Ｌａｎｅ Ｓｃｈｏｏｌ',
    'Hárbour Läne Schoöl',
    'Harbour Lane School – Support',
    'The official app of Harbour Lane School',
    'Harbour ᒪane School', // Canadian Syllabics Ma
    'Harbour Lane Schoo𝟏',
    'Harbour Lane ꓢchool', // Lisu S
    'ꓧarbour Lane School',
    'Harbour Lane Schooⅼ', // Roman numeral fifty
    'Ⲏarbour Lane School', // Coptic
    'ᕼarbour Lane School',
    'Harbour Lane S𝒸hool',
    'Harbour Lane Schoꬽl',
    'Harbour L𐊠ne School', // Carian A
    'Admin',
    'АDМIN',
    'Adm1n',
    'Adrnin',
    'Support',
    'Soporte técnico',
    'Security Team',
    '𝐒𝐮𝐩𝐩𝐨𝐫𝐭',
  ])('recognises %s', (name) => {
    expect(isPosing(name, SCHOOL)).toBe(true);
  });

  it.each([
    'Study Buddy',
    'Claude',
    'Harbour Walks',
    'School Planner',
    'Supporting Notes',
    'Admiral',
    '🎓',
    '',
    'Школа',
  ])('accepts %s', (name) => {
    expect(isPosing(name, SCHOOL)).toBe(false);
  });

  it.each([
    SCHOOL,
    SCHOOL.toUpperCase(),
    SCHOOL.toLowerCase(),
    'Fjord Academy 2',
    'Quick Box Gym',
    'Школа Завтра',
    'Σχολή Αθηνών',
  ])('recognises %s with any one letter replaced by one that Unicode calls confusable with it', (school) => {
    const missed: string[] = [];
    let tried = 0;
    for (const [at, letter] of [...school].entries()) {
      for (const alike of lookalikesOf(letter)) {
        const name = [...school].with(at, alike).join('');
        tried += 1;
        if (!isPosing(name, school)) missed.push(`${name} (U+${alike.codePointAt(0)?.toString(16)} for ${letter})`);
      }
    }
    expect(missed).toEqual([]);
    expect(tried).toBeGreaterThan(school === school.normalize('NFKD') && /[a-z]/i.test(school) ? 200 : 20);
  });

  it('recognises a short school name with any one letter replaced', () => {
    const missed = [...'Oxley'].flatMap((letter, at) =>
      lookalikesOf(letter)
        .map((alike) => `The ${[...'Oxley'].with(at, alike).join('')} app`)
        .filter((name) => !isPosing(name, 'Oxley')),
    );
    expect(missed).toEqual([]);
  });

  it('takes at most 50 ms for the longest possible name', async () => {
    const longest = 'ﷺ'.repeat(64);
    isPosing(longest, SCHOOL);
    const tenTimes = () => {
      for (let times = 0; times < 10; times += 1) isPosing(longest, 'ﷺ'.repeat(100));
    };
    expect(await leastCost(500, tenTimes)).toBeLessThan(500);
  });

  it('recognises letters replaced by digits, signs and letters that Unicode does not call confusable', () => {
    const alike = {
      ...{ a: '@4', b: 'вь', d: 'ð', e: 'єε3', g: 'ԍ9', h: 'н', i: 'l!', k: 'кκ', m: 'мμ', n: 'п' },
      ...{ s: '5$', t: 'тτ', u: 'ц', w: 'ω', x: 'χ' },
    };
    const missed = Object.entries(alike).flatMap(([letter, signs]) =>
      [...signs].filter((sign) => !isPosing('habsidget kumnwx'.replace(letter, sign), 'Habsidget Kumnwx')),
    );
    expect(missed).toEqual([]);
  });

  it('recognises those who speak for a school, in English and Spanish', () => {
    const official = [
      ...['admin', 'administrator', 'administration', 'support', 'support team', 'it support', 'help', 'help desk'],
      ...['security', 'security team', 'official', 'staff', 'sign in', 'login', 'account', 'coursegate'],
      ...['administrador', 'administradora', 'administración', 'soporte', 'soporte técnico', 'ayuda', 'seguridad'],
      ...['oficial', 'secretaría', 'cuenta', 'iniciar sesión'],
    ];
    expect(official.filter((name) => !isPosing(name, SCHOOL))).toEqual([]);
  });

  it('recognises a school name inside a word from eight letters on', () => {
    expect(isPosing('Mykitchensapp', 'Kitchens')).toBe(true);
    expect(isPosing('Mykitchenapp', 'Kitchen')).toBe(false);
  });

  it('recognises a short school name only as a whole word', () => {
    expect(isPosing('Art', 'Art')).toBe(true);
    expect(isPosing('Art – official', 'Art')).toBe(true);
    expect(isPosing('Smart Study', 'Art')).toBe(false);
  });

  it('accepts a name without letters', () => {
    expect(isPosing('🎓', '🎓 !')).toBe(false);
  });
});

describe('names that need proof', () => {
  const NOWHERE = { document: undefined, destinations: ['app.example'] };
  const ownerOf = (name: string, hosts: Parameters<typeof posingOf>[2] = NOWHERE) => {
    const posing = posingOf(name, SCHOOL, hosts);
    return posing === 'school' ? posing : posing?.owner;
  };

  it.each([
    ['Claude', 'Anthropic'],
    ['CLAUDE', 'Anthropic'],
    ['CIaude', 'Anthropic'],
    ['Clаude', 'Anthropic'], // Cyrillic а
    ['Cl4ude', 'Anthropic'],
    ['C l a u d e', 'Anthropic'],
    ['Ｃｌａｕｄｅ', 'Anthropic'],
    ['Claude.ai', 'Anthropic'],
    ['Claude 4.5 Sonnet', 'Anthropic'],
    ['Claude4', 'Anthropic'],
    ['ClaudeDesktop', 'Anthropic'],
    ['claudelogin', 'Anthropic'],
    ['Sign in with Claude', 'Anthropic'],
    ['Claude by Anthropic', 'Anthropic'],
    ['Mein Claude-Assistent', 'Anthropic'],
    ['ChatGPT', 'OpenAI'],
    ['Chat GPT', 'OpenAI'],
    ['ChatGPT5', 'OpenAI'],
    ['ChatGPT Study Helper', 'OpenAI'],
    ['Study Helper by OpenAI', 'OpenAI'],
    ['Gemini', 'Google'],
    ['Google Classroom Sync', 'Google'],
    ['G00gle', 'Google'],
    ['Microsoft Copilot', 'Microsoft'],
    ['Copilot', 'Microsoft'],
    ['GitHub Copilot', 'Microsoft'],
    ['Cursor', 'Anysphere'],
    ['Le Chat', 'Mistral AI'],
    ['Perplexity AI', 'Perplexity'],
    ['Grok Bot', 'xAI'],
    ['Meta AI', 'Meta'],
    ['Deep Seek', 'DeepSeek'],
    ['Notion', 'Notion'],
    ['Zapier', 'Zapier'],
    ['Slack', 'Slack'],
    ['Harbour Lane School for Claude', 'school'],
  ])('recognises %s as a name of %s', (name, owner) => {
    expect(ownerOf(name)).toBe(owner);
  });

  it.each([
    ...[
      'Claude Monet Study',
      'Jean-Claude’s Notes',
      'Claudia',
      'Cloud Desktop',
      'Open Air Theatre',
      'Philanthropic Society',
    ],
    ...[
      'Gemini Constellation',
      'Gemini Twins Maths',
      'Cursor Tracker',
      'Precursor',
      'Mistral Sailing School',
      'Le Chat Noir',
    ],
    ...[
      'Notional Value',
      'The Notion of Time',
      'Slackline Club',
      'Zooming In',
      'Zoomin',
      'Poem of the Day',
      'Poetry App',
    ],
    ...[
      'Metadata Editor',
      'Meta Study Guide',
      'Apple Harvest Diary',
      'Pineapple',
      'Amazon River Atlas',
      'Grokking Algorithms',
    ],
    ...[
      'Canvas',
      'Stripes and Dots',
      'Perplexity of Language',
      'Codex Sinaiticus',
      'Manuscript',
      'Study Copilot',
      'Alexander',
    ],
    ...[
      'Study Buddy',
      'Course Companion',
      'My Courses',
      'Lecture Notes',
      'Flashcards',
      'Grade Book',
      'Campus Calendar',
    ],
    ...[
      'Flashcards for ChatGPT',
      'Lernkarten für ChatGPT',
      'Send to GitHub',
      'Visual Studies',
      'Chat Assistant',
      'AI Bot',
    ],
  ])('leaves %s alone', (name) => {
    expect(ownerOf(name)).toBeUndefined();
  });

  it.each([
    ['Claude', 'claude.ai'],
    ['Claude', 'claude.com'],
    ['ChatGPT', 'chatgpt.com'],
    ['Gemini', 'gemini.google.com'],
    ['Google Antigravity', 'antigravity.google'],
    ['Microsoft Copilot', 'copilot.microsoft.com'],
    ['Visual Studio Code', 'vscode.dev'],
    ['Visual Studio Code', 'insiders.vscode.dev'],
    ['Cursor', 'www.cursor.com'],
    ['Grok', 'grok.com'],
    ['Grok', 'console.x.ai'],
    ['Grok Bot', 'www.cursor.com'],
    ['Le Chat', 'callback.mistral.ai'],
    ['Perplexity', 'www.perplexity.ai'],
    ['Perplexity', 'enterprise.perplexity.ai'],
    ['Devin', 'api.devin.ai'],
    ['Notion', 'app.notion.com'],
    ['Zapier', 'zapier.com'],
    ['Slack', 'slack.com'],
  ])('%s is proved by a destination at %s, or by a document there', (name, host) => {
    expect(ownerOf(name, { document: undefined, destinations: [host] })).toBeUndefined();
    expect(ownerOf(name, { document: host, destinations: ['app.example'] })).toBeUndefined();
    expect(ownerOf(name)).toBeDefined();
  });

  it.each([
    ['Gemini', 'oauth-redirect.googleusercontent.com'],
    ['Gemini', 'vertexaisearch.cloud.google.com'],
    ['Microsoft Copilot Studio', 'global.consent.azure-apim.net'],
  ])('%s is not proved by %s, where codes of any customer of the company arrive', (name, host) => {
    expect(ownerOf(name, { document: undefined, destinations: [host] })).toBeDefined();
  });

  it.each([
    'claude.ai.evil.example',
    'evilclaude.ai',
    'claude.ai:8443',
    'xn--clude-3ve.ai',
    'claude.site',
    'sites.google.com',
    'claude-login.evil.example',
  ])('Claude is not proved by %s', (host) => {
    expect(ownerOf('Claude', { document: undefined, destinations: [host] })).toBe('Anthropic');
    expect(ownerOf('Claude', { document: host, destinations: ['claude.ai'] })).toBe('Anthropic');
    expect(ownerOf('Claude', { document: undefined, destinations: ['claude.ai', host] })).toBe('Anthropic');
  });

  it('an app on the member’s device is not suspicious for its name, unless its document is elsewhere', () => {
    expect(ownerOf('Claude Code', { document: undefined, destinations: [] })).toBeUndefined();
    expect(ownerOf('Claude Code', { document: 'claude.ai', destinations: [] })).toBeUndefined();
    expect(ownerOf('Claude Code', { document: 'evil.example', destinations: [] })).toBe('Anthropic');
  });

  it.each(['Claude', 'ChatGPT', 'Gemini'])('recognises %s with any one letter replaced by a confusable one', (name) => {
    const missed = [...name].flatMap((letter, at) =>
      lookalikesOf(letter)
        .map((alike) => [...name].with(at, alike).join(''))
        .filter((one) => ownerOf(one) !== ownerOf(name)),
    );
    expect(missed).toEqual([]);
  });

  it.each(['ﷺ'.repeat(64), 'a '.repeat(32), 'claude'.repeat(10), 'W'.repeat(64)])(
    'takes at most 50 ms for %s',
    async (name) => {
      ownerOf(name);
      const tenTimes = () => {
        for (let times = 0; times < 10; times += 1) ownerOf(name);
      };
      expect(await leastCost(500, tenTimes)).toBeLessThan(500);
    },
  );
});
