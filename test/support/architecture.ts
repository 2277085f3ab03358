import { readFileSync, readdirSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What the code of one folder may touch besides its own files. */
export interface Zone {
  /** Other folders, or single files of them. */
  folders: string[];
  /** Folders of which only types may be imported. */
  types?: string[];
  /** npm packages; absent: any but `pg`. */
  packages?: string[];
  /** Node's own modules. */
  node: boolean;
  /** Whether it may read `process.env`. */
  env: boolean;
}

const PLAIN = { node: true, env: false };
const PROGRAM = { node: true, env: true };

/** The arrows of the design: `contracts ← domain ← workflows`, `… ← store, providers, effects, children ← activities ← worker`, `… ← client ← api, cli`. */
export const ZONES: Record<string, Zone> = {
  contracts: { folders: [], packages: ['zod'], node: false, env: false },
  domain: { folders: ['contracts'], packages: ['lossless-json'], node: false, env: false },
  workflows: { folders: ['domain'], types: ['contracts', 'activities'], packages: ['@temporalio/workflow'], node: false, env: false },
  store: { folders: ['contracts', 'domain'], packages: ['pg'], ...PLAIN },
  providers: { folders: ['contracts', 'domain'], ...PLAIN },
  effects: { folders: ['contracts', 'domain'], ...PLAIN },
  children: { folders: ['contracts', 'domain'], ...PLAIN },
  config: { folders: ['contracts', 'domain'], ...PLAIN },
  activities: { folders: ['contracts', 'domain', 'store', 'providers', 'effects', 'children'], ...PLAIN },
  client: { folders: ['contracts', 'domain', 'store', 'workflows/messages'], ...PLAIN },
  worker: { folders: ['contracts', 'domain', 'store', 'providers', 'effects', 'children', 'config', 'activities', 'workflows/messages'], ...PROGRAM },
  api: { folders: ['contracts', 'domain', 'client'], ...PROGRAM },
  dev: { folders: ['store'], ...PROGRAM },
  // `effects/capabilities` is data here: the capability table that the CLI shows (D19).
  cli: { folders: ['contracts', 'domain', 'client', 'config', 'store', 'effects/capabilities', 'worker', 'api', 'dev'], ...PROGRAM },
  // Programs of users: they know Holdfast by its package name only.
  examples: { folders: [], ...PROGRAM },
  testing: { folders: ['contracts', 'effects'], ...PLAIN },
  // A program of its own, which is not shipped: it starts everything else.
  bench: { folders: ['contracts', 'domain', 'store', 'config', 'activities', 'client', 'worker', 'dev'], ...PROGRAM },
};

export const MAX_FILE_LINES = 300;
export const MAX_FUNCTION_LINES = 60;

/** Folders of the checkout that hold no code of ours. */
const NOT_OURS = ['node_modules', 'dist', 'reports', '.git', '.holdfast'];

/** Every file of the checkout with such an ending, relative to its root. */
export function sourceFiles(endings: RegExp): string[] {
  return readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => !NOT_OURS.includes(entry.name))
    .flatMap((entry) => (entry.isFile() ? [entry.name] : readdirSync(join(ROOT, entry.name), { recursive: true, encoding: 'utf8' }).map((file) => posix.join(entry.name, file))))
    .filter((file) => endings.test(file) && !file.endsWith('.d.ts'))
    .sort();
}

export function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** The only file that may load modules of the application, by names that stand in the configuration. */
const LOADER = 'worker/modules.ts';

/** Stands for a name that is only known when the program runs. */
const COMPUTED = 'a computed name';

interface Import {
  from: string;
  typeOnly: boolean;
  line: number;
}

/** What is against the rules of the file's zone, one line each: where, what, and what is allowed. */
export function zoneProblems(file: string, text: string): string[] {
  const zone = ZONES[file.split('/')[0] ?? ''];
  if (zone === undefined) return [`${file}: its folder is in no zone; give it one in test/support/architecture.ts`];
  const source = parse(file, text);
  const imports = importsOf(source).flatMap((item) => {
    const problem = importProblem(file, item, zone);
    return problem === null ? [] : [`${file}:${item.line} ${problem}`];
  });
  return zone.env ? imports : [...imports, ...environmentReads(source).map((line) => `${file}:${line} reads the environment; only worker, api, cli and dev may`)];
}

function importProblem(file: string, { from, typeOnly }: Import, zone: Zone): string | null {
  const folder = file.split('/')[0];
  if (from === COMPUTED) return file === LOADER ? null : 'loads a module by a computed name, which nobody can check';
  if (!from.startsWith('.')) return packageProblem(from, zone, folder);
  const target = posix.join(posix.dirname(file), from).replace(/\.(js|ts|mjs)$/, '');
  const within = (places: string[]) => places.some((place) => target === place || target.startsWith(`${place}/`));
  if (within([folder ?? '', ...zone.folders]) || (typeOnly && within(zone.types ?? []))) return null;
  const types = zone.types === undefined ? '' : `, and types of ${zone.types.join(', ')}`;
  return `imports ${target}; ${folder} may import ${zone.folders.join(', ') || 'nothing else'}${types}`;
}

function packageProblem(from: string, zone: Zone, folder: string | undefined): string | null {
  const name = from.startsWith('@') ? from.split('/').slice(0, 2).join('/') : (from.split('/')[0] ?? '');
  if (from.startsWith('node:') || builtinModules.includes(name)) return zone.node ? null : `imports ${from}; ${folder} is free of Node's modules`;
  if (zone.packages === undefined) return name === 'pg' ? 'imports pg; only store may' : null;
  return zone.packages.includes(name) ? null : `imports ${name}; ${folder} may import ${zone.packages.join(', ')}`;
}

function importsOf(source: ts.SourceFile): Import[] {
  const found: Import[] = [];
  walk(source, (node) => {
    const line = lineOf(source, node.getStart(source));
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier)) {
      const typeOnly = ts.isImportDeclaration(node) ? node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword : node.isTypeOnly;
      found.push({ from: node.moduleSpecifier.text, typeOnly, line });
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) found.push({ from: node.argument.literal.text, typeOnly: true, line });
    if (!ts.isCallExpression(node)) return;
    const loads = node.expression.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(node.expression) && node.expression.text === 'require');
    const [what] = node.arguments;
    if (loads) found.push({ from: what !== undefined && ts.isStringLiteral(what) ? what.text : COMPUTED, typeOnly: false, line });
  });
  return found;
}

/** Lines with `process.env`, `process['env']`, `{ env } = process` or an import of it. */
function environmentReads(source: ts.SourceFile): number[] {
  const lines: number[] = [];
  walk(source, (node) => {
    const member = ts.isPropertyAccessExpression(node) ? node.name.text : ts.isElementAccessExpression(node) && ts.isStringLiteral(node.argumentExpression) ? node.argumentExpression.text : null;
    const ofProcess = (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) && node.expression.getText(source).endsWith('process');
    const taken = ts.isVariableDeclaration(node) && node.initializer?.getText(source) === 'process';
    const imported = ts.isImportDeclaration(node) && /^["'](node:)?process["']$/.test(node.moduleSpecifier.getText(source));
    if ((member === 'env' && ofProcess) || taken || imported) lines.push(lineOf(source, node.getStart(source)));
  });
  return lines;
}

/** A file that is too long, and functions that are. The callback of a `describe` is a heading, not a function. */
export function lengthProblems(file: string, text: string): string[] {
  const source = parse(file, text);
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  const problems = lines > MAX_FILE_LINES ? [`${file} has ${lines} lines; ${MAX_FILE_LINES} are allowed`] : [];
  walk(source, (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
    const caller = ts.isCallExpression(node.parent) ? node.parent.expression.getText(source) : '';
    const start = lineOf(source, node.getStart(source));
    const length = lineOf(source, node.end) - start + 1;
    if (length > MAX_FUNCTION_LINES && !caller.startsWith('describe')) problems.push(`${file}:${start} a function of ${length} lines; ${MAX_FUNCTION_LINES} are allowed`);
  });
  return problems;
}

/** `any` and notes of unfinished work. */
export function loosenessProblems(file: string, text: string): string[] {
  const source = parse(file, text);
  const problems: string[] = [];
  walk(source, (node) => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) problems.push(`${file}:${lineOf(source, node.getStart(source))} uses "any"`);
  });
  text.split('\n').forEach((line, index) => {
    if (/\b(TODO|FIXME|XXX)\b|@ts-(ignore|nocheck)/.test(line)) problems.push(`${file}:${index + 1} leaves work undone: ${line.trim().slice(0, 80)}`);
  });
  return problems;
}

function parse(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

function lineOf(source: ts.SourceFile, position: number): number {
  return source.getLineAndCharacterOfPosition(position).line + 1;
}
