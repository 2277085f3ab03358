import type { ChildConfig } from '../contracts/config.js';
import type { ChildDefinition } from '../contracts/definition.js';

/** The pinned form of a child that is no agent of the file (D32, D34). Holds names of variables, never secrets. */
export function compileOtherChild(name: string, child: ChildConfig): ChildDefinition {
  const words = name.replaceAll(/[_-]+/g, ' ');
  if (child.type === 'a2a') {
    return {
      name, kind: 'a2a', description: child.description ?? `Asks the remote agent "${words}".`, input: child.input, url: child.url, headersEnv: child.headers_env,
      timeoutMs: child.timeout, pollMs: child.poll, idempotent: child.idempotent,
    };
  }
  return {
    name, kind: 'function', description: child.description ?? `Does "${words}".`, input: child.input, module: child.module, export: child.export,
    inputSchema: child.input_schema ?? null, timeoutMs: child.timeout,
  };
}
