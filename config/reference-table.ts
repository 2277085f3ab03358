import type { z } from 'zod';

export type SchemaNode = z.core.JSONSchema.BaseSchema & { kind?: string };

/** One section of the reference: a heading and a Markdown table of its keys; sections inside it follow. */
export function sections(node: SchemaNode, path: string, about: string, list = false): string[] {
  const shapes = node.oneOf as SchemaNode[] | undefined;
  if (shapes !== undefined) return shapes.flatMap((shape) => shapeSections(shape, path, about));
  const entries = Object.entries(node.properties ?? {}).map(([key, child]): [string, SchemaNode] => [key, child as SchemaNode]);
  const rows = entries.filter(([, child]) => inner(child) === null).map(([key, child]) => row(key, child, node.required?.includes(key) ?? false));
  const nested = entries.flatMap(([key, child]) => nestedSections(child, path === '' ? key : `${path}.${key}`));
  return rows.length === 0 ? nested : [[`## \`${list ? `[[${path}]]` : `[${path}]`}\``, '', about, '', ...table(rows)].join('\n'), ...nested];
}

/** One of several shapes of a table, told apart by its `type`. */
function shapeSections(shape: SchemaNode, path: string, about: string): string[] {
  const type = shape.properties?.['type'] as SchemaNode;
  const name = String(type.const);
  return sections(shape, path, `${about}. ${type.description ?? ''}.`).map((text) => text.replace(/^## (\S+)$/m, `## $1 with \`type = "${name}"\``));
}

/** A Markdown table with the columns of every section. */
export function table(rows: string[]): string[] {
  return ['| key | type | default | meaning |', '| --- | --- | --- | --- |', ...rows];
}

export function row(key: string, node: SchemaNode, required: boolean): string {
  const standard = node.default === undefined ? (required ? 'required' : '–') : code(JSON.stringify(node.default));
  return `| \`${key}\` | ${typeOf(node)} | ${standard} | ${cell(node.description ?? '')} |`;
}

function nestedSections(node: SchemaNode, path: string): string[] {
  const found = inner(node);
  return found === null ? [] : sections(found.node, found.named ? `${path}.NAME` : path, node.description ?? '', found.list);
}

/** The table inside a key: itself, the tables under names of the author's choice, or the items of a list. */
function inner(node: SchemaNode): { node: SchemaNode; named: boolean; list: boolean } | null {
  if (node.properties !== undefined || node.oneOf !== undefined) return { node, named: false, list: false };
  const items = node.items as SchemaNode | undefined;
  if (items?.properties !== undefined) return { node: items, named: false, list: true };
  const values = node.additionalProperties as SchemaNode | undefined;
  return values?.properties === undefined && values?.oneOf === undefined ? null : { node: values, named: true, list: false };
}

function typeOf(node: SchemaNode): string {
  if (node.kind !== undefined) return cell(node.kind);
  if (node.enum !== undefined) return node.enum.map((value) => code(JSON.stringify(value))).join(', ');
  if (node.const !== undefined) return code(JSON.stringify(node.const));
  if (node.type === 'array') return `list of ${typeOf(node.items as SchemaNode)}`;
  if (node.type === 'object') return tableType(node);
  if (node.type === 'integer') return `whole number${range(node)}`;
  if (node.type === 'boolean') return '`true`, `false`';
  return node.pattern === undefined ? 'text' : 'name';
}

function tableType(node: SchemaNode): string {
  const values = node.additionalProperties as SchemaNode | undefined;
  const known = values !== undefined && (values.type !== undefined || values.enum !== undefined);
  return known ? `table of ${typeOf(values)}` : 'table';
}

function range({ minimum, maximum }: SchemaNode): string {
  return minimum === undefined || maximum === undefined ? '' : `, ${minimum}–${maximum}`;
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
