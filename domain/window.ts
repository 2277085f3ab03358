import type { Message } from '../contracts/message.js';
import { joinUsers } from './assemble.js';
import type { Group } from './assemble.js';

/**
 * Chooses what is sent to the model (C3):
 * 1. Whole groups only, oldest dropped first.
 * 2. The running turn's user message is always kept, and so is its newest group.
 * 3. The first message is a user message.
 * 4. `size` counts messages; rule 2 may exceed it.
 */
export function selectWindow(prior: Group[], user: Message, turn: Group[], size: number): Message[] {
  const kept: Group[] = newest(turn, size - 1, 1);
  const room = size - 1 - count(kept);
  const before = kept.length === turn.length ? startAtUser(newest(prior, room, 0)) : [];
  return joinUsers([...before.flat(), user, ...kept.flat()]);
}

/**
 * First step of a turn that can enter the window of step `step`. One reply in three has calls at least, because unusable ones in a row are
 * bounded (CORRECTIONS), and a reply with its results is two messages or more: twice as many steps as messages always fill the window.
 */
export function firstStepRead(step: number, size: number): number {
  return Math.max(0, step - 2 * size);
}

function newest(groups: Group[], room: number, atLeast: number): Group[] {
  let from = groups.length;
  let used = 0;
  while (from > 0) {
    const cost = groups[from - 1]!.length;
    if (used + cost > room && groups.length - from >= atLeast) break;
    used += cost;
    from -= 1;
  }
  return groups.slice(from);
}

function startAtUser(groups: Group[]): Group[] {
  const first = groups.findIndex((group) => group[0]?.role === 'user');
  return first === -1 ? [] : groups.slice(first);
}

function count(groups: Group[]): number {
  return groups.reduce((sum, group) => sum + group.length, 0);
}
