/**
 * Text that PostgreSQL stores and every provider accepts (C14): well-formed Unicode without NUL. What cannot be kept becomes
 * U+FFFD, which is visible; identifiers and arguments of effects are refused instead (D14).
 */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

export function storableJson<T>(value: T): T {
  const text = JSON.stringify(value);
  return text.includes('\\u0000') || text.includes('\\ud') ? (deep(value) as T) : value;
}

function deep(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value)) return value.map(deep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storable(key), deep(item)]));
}

export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** First `max` UTF-16 units of a text, never ending inside a surrogate pair, with a marker that says what was left out. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = /[\uD800-\uDBFF]/.test(text[max - 1] ?? '') ? max - 1 : max;
  return `${text.slice(0, end)}\n[… ${text.length - end} more characters left out]`;
}
