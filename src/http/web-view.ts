/** Apps that open links in an embedded browser, by the word each adds to its User-Agent. */
const IN_APP =
  /\b(?:FBAN|FBAV|FB_IAB|Instagram|Line|MicroMessenger|Snapchat|Pinterest|LinkedInApp|TikTok|musical_ly|BytedanceWebview|GSA)\b/;
/** Android web views identify themselves. iOS web views have Safari's engine but not its name. */
const ANDROID = /; wv\)/;
const IOS = /\b(?:iPhone|iPod|iPad)\b(?!.*\bSafari\/).*\bAppleWebKit\//;

/**
 * Whether a browser is embedded in an app, which can read everything that a member types there (RFC 8252 section 8.12).
 * This is a hint, not proof: apps can send any User-Agent.
 */
export function isWebView(userAgent: string): boolean {
  return ANDROID.test(userAgent) || IN_APP.test(userAgent) || IOS.test(userAgent);
}
