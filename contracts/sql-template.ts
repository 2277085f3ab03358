/**
 * A statement of the configuration, cut where `{args.NAME}` and `{key}` stand: `texts` has one element more than `names`. Placeholders count
 * outside of literals, quoted names and comments only; a brace inside of those is plain text.
 */
export type SqlTemplate = { ok: true; texts: string[]; names: string[]; firstWord: string } | { ok: false; problem: string };

/** Literals, quoted names, comments and dollar quotes: what the server reads as one piece. A piece without its end matches up to the end. */
const PIECE = /(?<![\w$])[eE]'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\$([A-Za-z_]\w*)?\$[\s\S]*?(?:\$\1\$|$)/g;
const PLACEHOLDER = /\{([^{}]*)\}/g;
const NAME = /^(key|args\.[^.{}]+)$/;

/** Reads a statement. It is refused where a parameter would not be one: inside of a literal, or beside a `$1` of the author's own. */
export function readSqlTemplate(sql: string): SqlTemplate {
  const texts = [''];
  const names: string[] = [];
  const words: string[] = [];
  const plain = (text: string) => { texts[texts.length - 1] += text; };
  for (const { text, quoted } of pieces(sql)) {
    if (quoted) {
      const inside = Array.from(text.matchAll(PLACEHOLDER), (match) => match[1] ?? '').find((name) => NAME.test(name));
      if (inside !== undefined) return no(`holds {${inside}} inside of a literal, a quoted name or a comment; write the placeholder without quotes`);
      plain(text);
      continue;
    }
    const problem = plainProblem(text);
    if (problem !== null) return no(problem);
    words.push(text);
    const cut = text.split(PLACEHOLDER);
    cut.forEach((part, index) => {
      if (index % 2 === 0) return plain(part);
      names.push(part);
      texts.push('');
    });
  }
  return { ok: true, texts, names, firstWord: /[a-z]+/i.exec(words.join(' '))?.[0].toLowerCase() ?? '' };
}

function plainProblem(text: string): string | null {
  const wrong = Array.from(text.matchAll(PLACEHOLDER), (match) => match[1] ?? '').find((name) => !NAME.test(name));
  if (wrong !== undefined) return `holds the unknown placeholder {${wrong}}; allowed are {key} and {args.NAME}`;
  const rest = text.replaceAll(PLACEHOLDER, ' ');
  if (/[{}]/.test(rest)) return 'holds a brace without its partner';
  if (/;\s*\S/.test(rest)) return 'holds several statements; one is allowed';
  return /\$\d/.test(rest) ? 'holds a parameter such as $1; write {args.NAME} or {key}' : null;
}

function pieces(sql: string): { text: string; quoted: boolean }[] {
  const found: { text: string; quoted: boolean }[] = [];
  let at = 0;
  for (const match of sql.matchAll(PIECE)) {
    found.push({ text: sql.slice(at, match.index), quoted: false }, { text: match[0], quoted: true });
    at = match.index + match[0].length;
  }
  return [...found, { text: sql.slice(at), quoted: false }];
}

function no(problem: string): SqlTemplate {
  return { ok: false, problem };
}

/** First words of a statement that changes something; none of them can end the transaction around it (D18). */
export const STATEMENT_WORDS = ['insert', 'update', 'delete', 'merge', 'select', 'with', 'call'];
/** First words of a query that only reads. */
export const QUERY_WORDS = ['select', 'with', 'values', 'table'];

/** Why this cannot be a statement or query of an effect; null when it can. */
export function sqlProblem(sql: string, firstWords: string[]): string | null {
  const template = readSqlTemplate(sql);
  if (!template.ok) return template.problem;
  return firstWords.includes(template.firstWord) ? null : `must begin with one of: ${firstWords.join(', ')}`;
}

/** Placeholders of a statement, without the braces. */
export function sqlPlaceholders(sql: string): string[] {
  const template = readSqlTemplate(sql);
  return template.ok ? template.names : [];
}

/** Whether a statement calls a procedure, for which the server reports no number of rows. */
export function isCall(sql: string): boolean {
  const template = readSqlTemplate(sql);
  return template.ok && template.firstWord === 'call';
}
