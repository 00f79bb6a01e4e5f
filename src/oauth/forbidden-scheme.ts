/**
 * URI schemes that are never allowed in redirect URIs, even if configured: browsers and operating systems give them a
 * meaning of their own, from running a script to opening a settings page.
 */
const FORBIDDEN = new Set(
  `about acct afp android-app aim apt attachment blob bitcoin callto cap chrome chrome-extension chrome-search
  chrome-untrusted cid coap content crid data dav devtools dict dns edge facetime feed file filesystem finger ftp ftps
  geo git gopher http https iax icap im imap intent ipp irc ircs itms jar javascript jms ldap ldaps livescript magnet mailto
  maps market mid mms moz-extension ms-appinstaller msnim news nfs nntp opaquelocktoken opera pop pres query res resource
  rlogin rsync rtsp safari-extension search search-ms service session sftp shttp sip sips skype smb sms snews snmp ssh steam
  stun tel telnet tftp tip tn3270 turn udp unreal urn vbscript view-source vnc webcal wais ws wss xmpp wyciwyg z39.50r
  z39.50s`.split(/\s+/),
);

/** `scheme` is in lower case, without the colon. */
export function isForbiddenScheme(scheme: string): boolean {
  return FORBIDDEN.has(scheme) || scheme.startsWith('ms-');
}
