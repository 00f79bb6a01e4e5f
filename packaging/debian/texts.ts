/** The name and address that the package gives for questions, in Debian's own variables. */
const maintainer = (): string => {
  const { DEBFULLNAME = 'The coursegate authors', DEBEMAIL = 'coursegate@example.org' } = process.env;
  return `${DEBFULLNAME} <${DEBEMAIL}>`;
};

/** A version as Debian orders it: `1.0.0-rc.1` is before `1.0.0`, so it is `1.0.0~rc.1`. */
export const debianVersion = (version: string): string => version.replace('-', '~');

interface Package {
  readonly version: string;
  /** Debian's name, such as amd64. */
  readonly architecture: string;
  /** KiB, installed. */
  readonly size: number;
}

/** DEBIAN/control. */
export const control = ({ version, architecture, size }: Package): string => `Package: coursegate
Version: ${debianVersion(version)}
Architecture: ${architecture}
Maintainer: ${maintainer()}
Installed-Size: ${size}
Depends: adduser, libc6 (>= 2.28), libstdc++6
Recommends: ca-certificates
Section: web
Priority: optional
Description: OAuth 2.0 access to an existing course site
 Members of a course site connect an assistant or another app with the login
 that they already have, see what each app may do, and can disconnect it.
 .
 coursegate runs beside the site, behind its web server. It is an OAuth 2.0
 authorization server and a gate for the site's API in one process. The site
 itself stays as it is.
`;

/** The changelog in Debian's form. What changed is in CHANGELOG.md. */
export const changelog = (
  version: string,
  time: number,
): string => `coursegate (${debianVersion(version)}) stable; urgency=medium

  * Release ${version}. CHANGELOG.md says what changed.

 -- ${maintainer()}  ${new Date(time * 1000).toUTCString().replace('GMT', '+0000')}
`;

/** The copyright file in its machine-readable form, with the text of the licence. */
export const copyright = (licence: string): string => {
  const [, years = ''] = /^Copyright \(c\) (.*)$/m.exec(licence) ?? [];
  const text = licence.slice(licence.indexOf('Permission is hereby')).trim();
  const lines = text.split('\n').map((line) => ` ${line.trim() === '' ? '.' : line}`);
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: coursegate
Comment: The program contains Node.js and packages of the npm registry. Their
 licences are in the NOTICE files beside this one.

Files: *
Copyright: ${years}
License: Expat

License: Expat
${lines.join('\n')}
`;
};
