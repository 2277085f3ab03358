import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configurationReference } from '../../config/reference.js';

it('I5b: docs/configuration.md is what the schemas say; if not, run: npm run build && node dist/config/reference.js', () => {
  expect(readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')).toBe(configurationReference());
});

it('I5b: every key of the reference has a meaning', () => {
  const empty = configurationReference().split('\n').filter((line) => line.startsWith('| `') && / \|  \|$/.test(line));
  expect(empty).toEqual([]);
});
