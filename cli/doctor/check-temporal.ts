import { Connection } from '@temporalio/client';
import type { ClientSettings } from '../../client/index.js';
import { classifyNamespaceError } from '../../client/temporal-errors.js';
import { bad, good, type Check } from './check.js';

const CONNECT_MS = 5_000;
const KEYWORD = 2;
const INT = 3;
const ATTRIBUTES: Record<string, number> = {
  HoldfastAgent: KEYWORD, HoldfastThread: KEYWORD, HoldfastStatus: KEYWORD, HoldfastPendingApprovals: INT, HoldfastUnknownEffects: INT,
};
/** Temporal's number for queues of activities and of workflows. */
const WORKFLOW_QUEUE = 1;

/** Is Temporal there, with namespace and search attributes (I12), and does a worker poll our queue? */
export async function checkTemporal(settings: Pick<ClientSettings, 'temporal' | 'taskQueue'>): Promise<Check[]> {
  const { address, namespace, apiKey, tls } = settings.temporal;
  const connection = Connection.lazy({ address, ...(apiKey === undefined ? {} : { apiKey }), ...(tls === undefined ? {} : { tls }) });
  const within = <T>(call: () => Promise<T>) => connection.withDeadline(Date.now() + CONNECT_MS, call);
  try {
    const info = await within(() => connection.workflowService.getSystemInfo({}));
    const server = good('temporal', `${info.serverVersion || 'unknown version'} at ${address}`);
    try {
      await within(() => connection.workflowService.describeNamespace({ namespace }));
    } catch (error) {
      return [server, bad('namespace', 'configuration', `"${namespace}" ${classifyNamespaceError(error, namespace).kind === 'no_namespace' ? 'does not exist' : 'cannot be read'}`, `create it ("temporal operator namespace create ${namespace}") or set TEMPORAL_NAMESPACE`)];
    }
    return [server, good('namespace', namespace), await attributes(connection, namespace, within), await pollers(connection, namespace, settings.taskQueue, within)];
  } catch {
    return [bad('temporal', 'server', `no answer from ${address}`, 'start it ("holdfast dev") or set TEMPORAL_ADDRESS')];
  } finally {
    await connection.close();
  }
}

type Within = <T>(call: () => Promise<T>) => Promise<T>;

async function attributes(connection: Connection, namespace: string, within: Within): Promise<Check> {
  const name = 'search attributes';
  try {
    const { customAttributes } = await within(() => connection.operatorService.listSearchAttributes({ namespace }));
    const missing = Object.entries(ATTRIBUTES).filter(([attribute, type]) => customAttributes?.[attribute] !== type).map(([attribute]) => attribute);
    if (missing.length === 0) return good(name, Object.keys(ATTRIBUTES).join(', '));
    const commands = missing.map((attribute) => `--name ${attribute} --type ${ATTRIBUTES[attribute] === INT ? 'Int' : 'Keyword'}`).join(' ');
    return bad(name, 'configuration', `missing: ${missing.join(', ')}`, `temporal operator search-attribute create --namespace ${namespace} ${commands}`);
  } catch {
    return good(name, 'cannot be listed on this server (Temporal Cloud shows them in its own console)');
  }
}

async function pollers(connection: Connection, namespace: string, taskQueue: string, within: Within): Promise<Check> {
  const described = await within(() => connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue }, taskQueueType: WORKFLOW_QUEUE }));
  const count = described.pollers?.length ?? 0;
  if (count > 0) return good('worker', `${count} polling task queue "${taskQueue}"`);
  return bad('worker', 'other', `nobody polls task queue "${taskQueue}"`, 'start one with "holdfast worker" or "holdfast dev"');
}
