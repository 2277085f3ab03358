/** Configurations for tests: a controller `main` on a scripted model, with the effect `reserve` at a booking server. */
export interface TestConfig {
  modelUrl: string;
  bookingUrl?: string;
  /** What the system offers (D13). */
  offers?: { idempotency?: boolean; lookup?: 'authoritative' | 'eventual' };
  settleAfter?: string;
  timeout?: string;
  /** Lines of `[effects.reserve.approval]`; absent: no approval. */
  approval?: string;
  /** More lines of `[agents.main]`. */
  main?: string;
  effect?: string;
  more?: string;
}

export function testToml(config: TestConfig): string {
  const effects = config.bookingUrl === undefined ? '' : reserveEffect(config, config.bookingUrl);
  return `
[app]
default_agent = "main"
[models.default]
provider = "openai_compatible"
base_url = "${config.modelUrl}"
model = "scripted"
timeout = "20s"
[agents.main]
instructions = "You are the controller."
model = "default"
effects = [${config.bookingUrl === undefined ? '' : '"reserve"'}]
${config.main ?? ''}
${effects}
${config.more ?? ''}
`;
}

function reserveEffect(config: TestConfig, url: string): string {
  const { idempotency = true, lookup = 'authoritative' as const } = config.offers ?? { idempotency: true, lookup: 'authoritative' };
  return `
[effects.reserve]
type = "http"
description = "Reserve a table"
input_schema = { type = "object", required = ["date", "people"], additionalProperties = false, properties = { date = { type = "string" }, people = { type = "integer" }, name = { type = "string" } } }
method = "POST"
url = "${url}/reservations"
result_id = "id"
timeout = "${config.timeout ?? '4s'}"
${config.effect ?? ''}
${idempotency ? '[effects.reserve.idempotency]\nheader = "Idempotency-Key"\nretention = "24h"\n' : ''}
${config.offers !== undefined && config.offers.lookup === undefined ? '' : `[effects.reserve.lookup]\nurl = "${url}/reservations?key={key}"\nabsence = "${lookup}"\nsettle_after = "${config.settleAfter ?? '200ms'}"\nevery = "2s"\n`}
${config.approval === undefined ? '' : `[effects.reserve.approval]\nrequired = true\n${config.approval}\n`}
`;
}
