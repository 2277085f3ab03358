/** Where everything is. */
export function addresses(at: { temporalAddress: string; uiUrl: string | null; apiUrl: string | null; bookingUrl: string | null; configFile: string }): string {
  return [
    '',
    'holdfast is running',
    `  Temporal       ${at.temporalAddress}`,
    ...(at.uiUrl === null ? [] : [`  Temporal UI    ${at.uiUrl}`]),
    ...(at.apiUrl === null ? [] : [`  API            ${at.apiUrl}  (description: ${at.apiUrl}/openapi.json)`]),
    ...(at.bookingUrl === null ? [] : [`  booking server ${at.bookingUrl}`]),
    `  configuration  ${at.configFile}`,
  ].join('\n');
}

/** What to type in another terminal. */
export function tryNext(apiUrl: string | null): string {
  return [
    '',
    'try next, in another terminal in this folder:',
    '  npx holdfast send "Book a table for 2 people on 2026-12-31 at 20:00 for Lee"',
    '  npx holdfast approval list',
    '  npx holdfast turn list',
    '  npx holdfast ledger list',
    '  npx holdfast capabilities',
    '  npx holdfast doctor',
    ...(apiUrl === null ? [] : [`  curl ${apiUrl}/v1/approvals`]),
    '',
    'stop with Ctrl-C',
  ].join('\n');
}
