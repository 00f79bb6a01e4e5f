import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLineWriter } from '../../src/operations/line-writer.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coursegate-lines-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the line writer', () => {
  it('writes every line in order before it closes', async () => {
    const file = join(folder, 'file');
    const descriptor = openSync(file, 'a');
    const writer = createLineWriter(descriptor, () => undefined);
    const lines = Array.from({ length: 20_000 }, (_, at) => `{"line":${at},"text":"Renée"}\n`);
    for (const line of lines) writer.write(line);
    await writer.close();
    closeSync(descriptor);
    expect(readFileSync(file, 'utf8')).toBe(lines.join(''));
    expect(writer.dropped()).toBe(0);
  });

  it('writes a single line without an explicit flush', async () => {
    const file = join(folder, 'lone');
    const descriptor = openSync(file, 'a');
    const writer = createLineWriter(descriptor, () => undefined);
    writer.write('one\n');
    await expect.poll(() => readFileSync(file, 'utf8')).toBe('one\n');
    await writer.close();
    closeSync(descriptor);
  });

  it('drops and counts lines when the reader stops reading, never blocks, and resumes when the reader does', async () => {
    const fifo = join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const descriptor = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    const failures: Error[] = [];
    const writer = createLineWriter(descriptor, (error) => failures.push(error));
    const line = `${'x'.repeat(1023)}\n`;
    for (let at = 0; at < 12_000; at += 1) writer.write(line);
    expect(writer.dropped()).toBeGreaterThan(3_000);
    expect(writer.dropped()).toBeLessThan(5_000);
    const kept = 12_000 - writer.dropped();

    const closed = writer.close();
    let read = 0;
    const buffer = Buffer.alloc(1 << 20);
    for (;;) {
      try {
        const bytes = readSync(reader, buffer, 0, buffer.length, null);
        read += bytes;
        if (read === kept * 1024) break;
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('EAGAIN');
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    await closed;
    closeSync(descriptor);
    closeSync(reader);
    expect(read).toBe(kept * 1024);
    expect(failures).toEqual([]);
  });

  it('keeps writing while its lines are read, however many there are', async () => {
    const file = join(folder, 'long');
    const descriptor = openSync(file, 'w');
    const writer = createLineWriter(descriptor, () => undefined);
    const line = `${'z'.repeat(1024 * 1024 - 1)}\n`;
    for (let times = 1; times <= 12; times += 1) {
      writer.write(line);
      await expect.poll(() => statSync(file).size).toBe(times * line.length);
    }
    await writer.close();
    closeSync(descriptor);
    expect(writer.dropped()).toBe(0);
  });

  it('counts every line of an unread chunk as dropped', async () => {
    const fifo = join(folder, 'nobody');
    execFileSync('mkfifo', [fifo]);
    const end = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const descriptor = openSync(fifo, constants.O_WRONLY);
    closeSync(end);
    const writer = createLineWriter(descriptor, () => undefined);
    for (let times = 0; times < 100; times += 1) writer.write('a line\n');
    await writer.close();
    closeSync(descriptor);
    expect(writer.dropped()).toBe(100);
  });

  it('reports once that the reader has gone away, and counts the dropped lines', async () => {
    const fifo = join(folder, 'gone');
    execFileSync('mkfifo', [fifo]);
    const end = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const descriptor = openSync(fifo, constants.O_WRONLY);
    closeSync(end);
    const failures: NodeJS.ErrnoException[] = [];
    const writer = createLineWriter(descriptor, (error) => failures.push(error));
    const block = 'y'.repeat(70_000);
    for (const _ of [1, 2, 3]) {
      writer.write(`${block}\n`);
      await expect.poll(() => failures.length).toBe(1);
    }
    await writer.close();
    closeSync(descriptor);
    expect(failures.map(({ code }) => code)).toEqual(['EPIPE']);
    expect(writer.dropped()).toBe(3);
  });
});
