/** The smallest files of their kinds in Base64: a PNG of one pixel and a WAV without samples. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
export const WAV = Buffer.concat([
  Buffer.from('RIFF'),
  uint32(36),
  Buffer.from('WAVEfmt '),
  uint32(16),
  Buffer.from([1, 0, 1, 0]),
  uint32(8000),
  uint32(8000),
  Buffer.from([1, 0, 8, 0]),
  Buffer.from('data'),
  uint32(0),
]).toString('base64');

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
