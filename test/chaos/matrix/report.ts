import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { FAULTS } from './points.js';
import { KINDS } from './kinds.js';
import type { Row } from './row.js';

const REPORTS = fileURLToPath(new URL('../../../reports/', import.meta.url));

const seconds = (ms: number | null) => (ms === null ? '–' : (ms / 1000).toFixed(1));
const stateOf = ({ state, meanwhile }: Row) => (meanwhile === null || meanwhile === state ? state : `${meanwhile}, then ${state}`);

/** One line for each cell. */
export function tableOf(rows: Row[]): string {
  const table = new Table({ head: ['fault', 'point', 'effect', 'state', 'effects', 'requests', 'duplicates', 'losses', 'settled after s', 'picked up after s'], style: { head: [], border: [], compact: true } });
  for (const row of rows) {
    table.push([row.fault, row.point, row.effect, stateOf(row), row.effects, row.posts, row.duplicates, row.losses, seconds(row.settleMs), seconds(row.pickupMs)]);
  }
  return table.toString();
}

/** Sums and times of the whole run, for a person. */
export function summaryOf(rows: Row[]): string {
  const sum = (field: 'duplicates' | 'losses') => rows.reduce((total, row) => total + row[field], 0);
  const unknown = rows.filter(({ state }) => state === 'unknown').length;
  const times = (fault: Row['fault'], field: 'settleMs' | 'pickupMs') => rows.filter((row) => row.fault === fault).flatMap((row) => row[field] ?? []);
  const span = (values: number[]) => `${seconds(median(values))} s (at most ${seconds(Math.max(...values))} s)`;
  const killed = times('worker_killed', 'pickupMs');
  return [
    `${rows.length} cells: ${sum('duplicates')} duplicates, ${sum('losses')} losses, ${unknown} unknown and given to a person.`,
    ...FAULTS.filter((fault) => times(fault, 'settleMs').length > 0).map((fault) => `Settled after ${fault.replaceAll('_', ' ')}: ${span(times(fault, 'settleMs'))}, median.`),
    ...(killed.length === 0 ? [] : [`A killed worker's turn was picked up after ${span(killed)}, median, counted from the moment a worker was back.`]),
  ].join('\n');
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** The table of docs/guarantees.md: one line for each fault and point, one column for each kind. */
function markdownOf(rows: Row[], at: string): string {
  const kinds = KINDS.map(({ name }) => name);
  const lines = [...new Set(rows.map(({ fault, point }) => `${fault} ${point}`))].map((line) => {
    const [fault, point] = line.split(' ');
    const cells = kinds.map((kind) => {
      const row = rows.find((candidate) => candidate.fault === fault && candidate.point === point && candidate.effect === kind);
      return row === undefined ? '–' : `${stateOf(row)} · ${row.effects}/${row.posts} · ${seconds(row.settleMs)}`;
    });
    return `| ${fault} | ${point} | ${cells.join(' | ')} | ${seconds(rows.find((row) => row.fault === fault && row.point === point)?.pickupMs ?? null)} |`;
  });
  const head = `| fault | point | ${kinds.join(' | ')} | pick-up |\n| --- | --- | ${kinds.map(() => '---').join(' | ')} | --- |`;
  return `Run of ${at}.\n\n${summaryOf(rows).split('\n').map((line) => `- ${line}`).join('\n')}\n\n${head}\n${lines.join('\n')}\n`;
}

/** Writes `reports/chaos.json` for programs and `reports/chaos.md` for the documentation. */
export async function writeReports(rows: Row[], at: string): Promise<void> {
  await mkdir(REPORTS, { recursive: true });
  await writeFile(join(REPORTS, 'chaos.json'), `${JSON.stringify({ at, rows }, null, 2)}\n`);
  await writeFile(join(REPORTS, 'chaos.md'), markdownOf(rows, at));
}
