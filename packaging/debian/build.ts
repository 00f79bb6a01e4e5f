/** Builds the Debian packages: `node packaging/debian/build.ts [--arch x64|arm64] [--out FOLDER]` */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { buildTime } from '../build-time.ts';
import { writeCliPages } from '../cli-pages.ts';
import { filesBelow, ROOT } from '../files.ts';
import { changelog, control, copyright, debianVersion } from './texts.ts';

/** Debian's names of the architectures that the single binary is built for. */
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' } as const;
type Architecture = keyof typeof ARCHITECTURES;

interface DebianBuild {
  /** The folder for the packages. */
  readonly out: string;
  readonly architectures?: readonly Architecture[];
  /** The folder with `coursegate-linux-x64` and `coursegate-linux-arm64`. */
  readonly binaries?: string;
  /** The bundle that they were built from. */
  readonly bundle?: string;
}

/**
 * Builds a package for each architecture with dpkg-deb, from the single binary. The same binary and `SOURCE_DATE_EPOCH` give
 * the same bytes. Returns the paths of the packages.
 */
export async function buildDebianPackages({
  out,
  architectures = ['x64', 'arm64'],
  binaries = join(ROOT, 'build/binary'),
  bundle = join(ROOT, 'build/bundle'),
}: DebianBuild): Promise<readonly string[]> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const time = buildTime();
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-deb-'));
  try {
    const pages = join(folder, 'pages');
    await writeCliPages(pages);
    mkdirSync(out, { recursive: true });
    return architectures.map((architecture) => {
      const tree = join(folder, architecture);
      const put = putInto(tree);
      put('usr/bin/coursegate', readFileSync(join(binaries, `coursegate-linux-${architecture}`)), 0o755);
      put('usr/lib/systemd/system/coursegate.service', ours('coursegate.service'));
      putPages(put, pages);
      const documentation = 'usr/share/doc/coursegate';
      put(`${documentation}/copyright`, copyright(readFileSync(join(ROOT, 'LICENSE'), 'utf8')));
      put(`${documentation}/changelog.gz`, compressed(changelog(version, time)));
      put(`${documentation}/CHANGELOG.md.gz`, compressed(readFileSync(join(ROOT, 'CHANGELOG.md'))));
      for (const notice of [join(bundle, 'NOTICE'), join(binaries, 'NOTICE-node')])
        put(`${documentation}/${basename(notice)}.gz`, compressed(readFileSync(notice)));
      put(`${documentation}/sbom.cdx.json.gz`, compressed(readFileSync(join(bundle, 'sbom.cdx.json'))));
      put('usr/share/lintian/overrides/coursegate', ours('lintian-overrides'));
      mkdirSync(join(tree, 'etc/coursegate'), { recursive: true });
      putMetadata(tree, control({ version, architecture: ARCHITECTURES[architecture], size: sizeOf(tree) }));
      const file = join(out, `coursegate_${debianVersion(version)}_${ARCHITECTURES[architecture]}.deb`);
      pack(tree, file, time);
      return file;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Put = (path: string, content: string | Uint8Array, mode?: number) => void;

/** Writes files below a folder, with the same modes whatever the umask is. */
const putInto =
  (tree: string): Put =>
  (path, content, mode = 0o644) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), content);
    chmodSync(join(tree, path), mode);
  };

/** The man page and the completions, where Debian's man-db, bash-completion, zsh and fish look for them. */
function putPages(put: Put, pages: string): void {
  const read = (name: string) => readFileSync(join(pages, name));
  put('usr/share/man/man1/coursegate.1.gz', compressed(read('coursegate.1')));
  put('usr/share/bash-completion/completions/coursegate', read('coursegate.bash'));
  put('usr/share/zsh/vendor-completions/_coursegate', read('_coursegate'));
  put('usr/share/fish/vendor_completions.d/coursegate.fish', read('coursegate.fish'));
}

/** DEBIAN/: the metadata, the checksums that `dpkg --verify` compares, and the scripts. */
function putMetadata(tree: string, fields: string): void {
  const put = putInto(tree);
  const sums = filesBelow(tree).map(
    (path) =>
      `${createHash('md5')
        .update(readFileSync(join(tree, path)))
        .digest('hex')}  ${path}\n`,
  );
  put('DEBIAN/control', fields);
  put('DEBIAN/md5sums', sums.join(''));
  for (const script of ['postinst', 'prerm', 'postrm']) put(`DEBIAN/${script}`, ours(script), 0o755);
}

function pack(tree: string, file: string, time: number): void {
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', tree]);
  // Like the secret in it, the configuration is only for root and the gate.
  chmodSync(join(tree, 'etc/coursegate'), 0o750);
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z6', '--build', tree, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(time) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

const ours = (name: string) => readFileSync(new URL(name, import.meta.url));
const compressed = (content: string | Uint8Array) => gzipSync(content, { level: 9 });

/** KiB. */
const sizeOf = (tree: string) =>
  filesBelow(tree).reduce((sum, path) => sum + Math.ceil(statSync(join(tree, path)).size / 1024), 0);

if (import.meta.main) {
  const { values } = parseArgs({ options: { arch: { type: 'string' }, out: { type: 'string' } } });
  const architectures = Object.keys(ARCHITECTURES).filter((name) => values.arch === undefined || name === values.arch);
  if (architectures.length === 0) throw new Error(`--arch is one of ${Object.keys(ARCHITECTURES).join(', ')}`);
  const out = values.out ?? join(ROOT, 'build/debian');
  for (const file of await buildDebianPackages({ out, architectures: architectures as Architecture[] }))
    console.log(file);
}
