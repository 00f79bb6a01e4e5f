/** Apps that open links inside themselves, by the word each puts into its User-Agent. */
const IN_APP =
  /\b(?:FBAN|FBAV|FB_IAB|Instagram|Line|MicroMessenger|Snapchat|Pinterest|LinkedInApp|TikTok|musical_ly|BytedanceWebview|GSA)\b/;
/** A web view of Android says so. One of iOS has the engine of Safari, and not its name. */
const ANDROID = /; wv\)/;
const IOS = /\b(?:iPhone|iPod|iPad)\b(?!.*\bSafari\/).*\bAppleWebKit\//;

/**
 * Whether a browser is embedded in an app, which can read all that a member types there (RFC 8252 §8.12). In: the
 * User-Agent. Not proof of anything: apps may call themselves what they like.
 */
export function isWebView(userAgent: string): boolean {
  return ANDROID.test(userAgent) || IN_APP.test(userAgent) || IOS.test(userAgent);
}
