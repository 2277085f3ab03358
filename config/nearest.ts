/** The known name that a mistyped one most likely means; null when none is near (at most a third of its letters differ). */
export function nearest(name: string, known: readonly string[]): string | null {
  const text = name.slice(0, 60).toLowerCase().replaceAll('-', '_');
  const ranked = known.map((candidate) => ({ candidate, distance: editDistance(text, candidate.toLowerCase()) })).sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(1, Math.floor(text.length / 3)) ? best.candidate : null;
}

/** "; did you mean …?" or nothing, and the list of what exists. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  const list = known.length === 0 ? 'there are none' : `allowed: ${known.join(', ')}`;
  return near === null ? `; ${list}` : `; did you mean "${near}"? (${list})`;
}

/** Insertions, deletions, replacements and swaps of neighbours between two texts. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same, swapped));
    }
  }
  return at(a.length, b.length);
}
