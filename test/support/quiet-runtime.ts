import { DefaultLogger, Runtime } from '@temporalio/worker';

// Import for its effect. What matters of a failed replay is in its error; the SDK's own log would bury it. A process has one runtime.
Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined), telemetryOptions: { logging: { filter: 'OFF' } } });
