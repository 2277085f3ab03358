import { testToml } from './toml.js';

/**
 * Agent `clerk`, which can come to every kind of wait: `approved` and `brief` (6 s) ask for approval, `lost` offers nothing, so that an
 * answer that is lost leaves it unknown, `ask_user` asks the user. `plain` needs nobody.
 */
export function clerkToml(modelUrl: string, bookingUrl: string, lostUrl = bookingUrl): string {
  const recovery = (name: string) => `[effects.${name}.idempotency]\n[effects.${name}.lookup]\nurl = "${bookingUrl}/reservations?key={key}"\nabsence = "authoritative"\nsettle_after = "200ms"\n`;
  return testToml({
    modelUrl,
    more: [
      '[agents.clerk]', 'instructions = "You are the clerk."', 'model = "default"', 'ask_user = true', 'max_steps = 60', 'effects = ["approved", "brief", "lost", "plain"]',
      effect('approved', bookingUrl, `${recovery('approved')}[effects.approved.approval]\nrequired = true\n`),
      effect('brief', bookingUrl, `${recovery('brief')}[effects.brief.approval]\nrequired = true\nexpires_in = "6s"\n`),
      effect('lost', lostUrl, ''),
      effect('plain', bookingUrl, recovery('plain')),
    ].join('\n'),
  });
}

function effect(name: string, url: string, rest: string): string {
  return `
[effects.${name}]
type = "http"
description = "Reserve a table"
input_schema = { type = "object", required = ["date", "people"], additionalProperties = false, properties = { date = { type = "string" }, people = { type = "integer" } } }
url = "${url}/reservations"
result_id = "id"
timeout = "4s"
${rest}`;
}
