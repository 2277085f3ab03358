import { readFileSync } from 'node:fs';

/** Version of this package, from the package.json above the source or the build. */
export function version(): string {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      const found: unknown = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
      if (typeof found === 'object' && found !== null && 'version' in found && typeof found.version === 'string') return found.version;
    } catch {
      continue;
    }
  }
  return '0.0.0';
}
