import { createRequire } from 'node:module';
import type { History } from '@temporalio/common/lib/proto-utils.js';

/** The only parts of the SDK's own libraries that are used. */
interface ProtoJson {
  fromJson(type: object, json: unknown, options: { ignoreUnknownFields: boolean }): History;
}
interface PatchedRoot {
  patchProtobufRoot(root: object): { lookupType(name: string): object };
}

/**
 * Reads a history as "temporal workflow show --output json" writes it; throws for anything else. The SDK's own `historyFromJSON` refuses
 * every history ("type must be a Type") where npm gives `@temporalio/common` and `@temporalio/proto` a copy of protobufjs each, as it
 * does beside gRPC, so the types are read by the copy that made them.
 */
export function historyFromJson(json: unknown): History {
  const ofCommon = createRequire(createRequire(import.meta.url).resolve('@temporalio/common'));
  const { patchProtobufRoot } = ofCommon('@temporalio/proto/lib/patch-protobuf-root') as PatchedRoot;
  const { fromJson } = createRequire(ofCommon.resolve('@temporalio/proto'))('protobufjs/ext/protojson') as ProtoJson;
  const type = patchProtobufRoot(ofCommon('@temporalio/proto') as object).lookupType('temporal.api.history.v1.History');
  return fromJson(type, json, { ignoreUnknownFields: true });
}
