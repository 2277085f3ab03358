import Table from 'cli-table3';

/**
 * Text from outside, safe for a terminal: control characters and marks that reorder text could hide what a person is
 * about to approve. Line breaks stay.
 */
export function printable(text: string): string {
  return text.toWellFormed().replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '\uFFFD');
}

/** One line of at most `max` characters. */
export function oneLine(text: string, max = 80): string {
  const line = printable(text).replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}

/** A JSON value on one line; a string is itself. */
export function inline(value: unknown, max = 80): string {
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value) ?? '', max);
}

const NO_LINES = {
  top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '',
  left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ',
};

/** A compact table without lines or colours. */
export function table(head: string[], rows: string[][]): string {
  const made = new Table({ head, chars: NO_LINES, style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 } });
  made.push(...rows.map((row) => row.map(printable)));
  return made.toString().split('\n').map((line) => line.trimEnd()).join('\n');
}

/** Indents every line by two spaces. */
export function indent(text: string): string {
  return text.split('\n').map((line) => (line === '' ? '' : `  ${line}`)).join('\n');
}

/** A word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w.\/:=@%+-]+$/.test(text) ? text : `'${text.replaceAll(`'`, `'\\''`)}'`;
}
