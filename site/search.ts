/** What the search looks for: the words without those of a question that say nothing about its subject. "why 401" is 401. */
export function searchedWords(typed: string): string {
  const words = typed.replace(
    /\b(?:an?|and|are|can|do|does|how|i|in|is|it|my|of|the|to|what|when|where|why)(?:\s+|$)/gi,
    '',
  );
  return words.trim() === '' ? typed : words;
}

/**
 * How much a result counts, by the address of its page: help for somebody with a problem before the reference, and both before
 * what was decided, changed and measured.
 */
export function searchWeight(address: string): number {
  if (/\/(?:decisions|project|releasing)\b/.test(address)) return 0.1;
  if (/\/(?:troubleshooting|quickstart|install|for-members|operator)\.html/.test(address)) return 3;
  if (address.includes('/integrations/')) return 2;
  return /\/(?:reference|clients\/matrix|conformance|threat-model)/.test(address) ? 0.7 : 1;
}
