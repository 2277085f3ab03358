import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { HoldfastError } from '../client/index.js';
import type { FileRef } from '../contracts/message.js';

const MIME: Record<string, string> = {
  '.txt': 'text/plain', '.md': 'text/markdown', '.csv': 'text/csv', '.html': 'text/html', '.json': 'application/json', '.pdf': 'application/pdf',
  '.png': 'image/png', '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.gif': 'image/gif', '.webp': 'image/webp', '.svg': 'image/svg+xml',
  '.zip': 'application/zip',
};

/** A file as the conversation knows it: its id is the SHA-256 of its content, the bytes stay where they are (document 3). */
export async function fileReference(path: string): Promise<FileRef> {
  try {
    const info = await stat(path);
    if (!info.isFile()) throw new HoldfastError('invalid_input', `${path} is not a file.`);
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
    return {
      id: `sha256:${hash.digest('hex')}`, name: basename(path), mime: MIME[extname(path).toLowerCase()] ?? 'application/octet-stream', size: info.size,
    };
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    throw new HoldfastError('invalid_input', `${path} cannot be read (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'}).`);
  }
}
