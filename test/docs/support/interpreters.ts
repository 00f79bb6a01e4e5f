import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missing } from '../../support/missing.ts';

/**
 * Whether a program is installed. If not, its blocks are skipped by name, with what to install. In CI they fail instead,
 * except for programs that are too large to install for a few blocks.
 */
export function programPresent(program: string, debian: string, mayLack = false): boolean {
  const isThere = program.startsWith('/')
    ? existsSync(program)
    : spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  if (isThere) return true;
  return missing(`no ${program} found: blocks of the documentation need it (apt-get install ${debian})`, mayLack);
}

/** Runs a program on a file with this text and throws its output unless it exits with 0. `command` gets the path. */
export function readBy(
  command: (file: string, folder: string) => readonly [string, ...string[]],
  name: string,
  text: string,
): void {
  const complaint = complaintOf(command, name, text);
  if (complaint !== undefined) throw new Error(complaint);
}

/** The same, but returns the output instead of throwing it. */
export function complaintOf(
  command: (file: string, folder: string) => readonly [string, ...string[]],
  name: string,
  text: string,
): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-docs-'));
  try {
    const file = join(folder, name);
    writeFileSync(file, text);
    const [program, ...args] = command(file, folder);
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    });
    if (status === 0) return undefined;
    return `${program}: ${`${stderr}${stdout}`.replaceAll(`${folder}/`, '').trim()}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A program that only parses Java, because pages omit imports and declarations. */
export const JAVA_READER = `
import com.sun.source.util.JavacTask;
import java.nio.file.*;
import java.util.*;
import javax.tools.*;

class Reader {
  public static void main(String[] files) throws Exception {
    var compiler = ToolProvider.getSystemJavaCompiler();
    var found = new DiagnosticCollector<JavaFileObject>();
    var manager = compiler.getStandardFileManager(found, null, null);
    var text = Files.readString(Path.of(files[0]));
    for (var around : List.of("%s", "class A { %s }", "class A { void a() { %s } }")) {
      var file = Path.of(files[1], "A.java");
      Files.writeString(file, around.formatted(text));
      found = new DiagnosticCollector<JavaFileObject>();
      ((JavacTask) compiler.getTask(null, manager, found, null, null, manager.getJavaFileObjects(file))).parse();
      if (found.getDiagnostics().isEmpty()) return;
    }
    System.err.println(found.getDiagnostics());
    System.exit(1);
  }
}
`;
