import { describe, expect, it } from 'vitest';
import { migrateCall, type CallMigration, type NewMeaning, type OpenCallFacts } from '../../domain/migration.js';

const CALL: OpenCallFacts = { kind: 'effect', name: 'reserve', state: 'pending', needsApproval: false, proposal: null, oldUsable: true };
const SAME: NewMeaning = { needsApproval: false, argsProblem: null, sameProposal: true };
const proposed = (proposal: OpenCallFacts['proposal'], more: Partial<OpenCallFacts> = {}) => ({ needsApproval: true, proposal, ...more });
const policy = (more: Partial<NewMeaning> = {}) => ({ needsApproval: true, ...more });

type Row = [string, Partial<OpenCallFacts>, Partial<NewMeaning> | null, CallMigration['do']];

const ROWS: Row[] = [
  ['sent: keeps its meaning', { state: 'dispatched' }, { argsProblem: 'no' }, 'keep'],
  ['sent, and gone from the agent: keeps its meaning', { state: 'dispatched' }, null, 'keep'],
  ['unknown: keeps its meaning', { state: 'unknown' }, null, 'keep'],
  ['sent under what cannot be used: is given up by what is proven', { state: 'dispatched', oldUsable: false }, {}, 'give_up'],
  ['unknown under what cannot be used: a person settles it', { state: 'unknown', oldUsable: false }, {}, 'keep'],
  ['approved: runs as it was approved', proposed('approved'), policy({ sameProposal: false }), 'keep'],
  ['approved under what cannot be used, and it would be the same proposal: runs', proposed('approved', { oldUsable: false }), policy(), 'repin'],
  ['approved under what cannot be used, and it would be another: is closed', proposed('approved', { oldUsable: false }), policy({ sameProposal: false }), 'close'],
  ['proposed, the same: keeps its proposal', proposed('pending'), policy(), 'repin'],
  ['proposed, another policy or target: is shown anew', proposed('pending'), policy({ sameProposal: false }), 'propose_anew'],
  ['proposed under what cannot be used, another: is shown anew', proposed('pending', { oldUsable: false }), policy({ sameProposal: false }), 'propose_anew'],
  ['its proposal is over: nothing revives it', proposed('over'), policy({ sameProposal: false }), 'keep'],
  ['to be proposed: is proposed with the new meaning', proposed(null), policy({ sameProposal: false }), 'repin'],
  ['waits, same: gets the new meaning', {}, {}, 'repin'],
  ['waits, gone: is closed', {}, null, 'close'],
  ['waits, arguments do not fit: is closed', {}, { argsProblem: 'people must be integer' }, 'close'],
  ['needed no approval and needs one now: is closed', {}, { needsApproval: true }, 'close'],
  ['needed an approval and needs none now: never runs unseen', proposed('pending'), {}, 'close'],
  ['child, waits: gets the new meaning', { kind: 'child' }, {}, 'repin'],
  ['child, waits, gone: is closed', { kind: 'child' }, null, 'close'],
  ['child, called: keeps its meaning', { kind: 'child', state: 'dispatched' }, null, 'keep'],
  ['child, called under what cannot be used: is called with the new meaning', { kind: 'child', state: 'dispatched', oldUsable: false }, {}, 'repin'],
  ['child, called under what cannot be used, gone: is given up', { kind: 'child', state: 'dispatched', oldUsable: false }, null, 'give_up'],
];

describe('a migration and an unfinished call', () => {
  it.each(ROWS)('D23, D34: %s', (_what, call, now, expected) => {
    expect(migrateCall({ ...CALL, ...call }, now === null ? null : { ...SAME, ...now }).do).toBe(expected);
  });

  it('D34: a closed one says why, by name', () => {
    expect(migrateCall(CALL, null)).toEqual({ do: 'close', reason: 'The agent was changed and has no reserve any more.' });
    expect(migrateCall(CALL, { ...SAME, argsProblem: 'people must be integer' })).toMatchObject({ reason: expect.stringContaining('people must be integer') });
  });
});
