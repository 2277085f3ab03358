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

/** What to type in another terminal. `say` fits the agent that runs. */
export function tryNext(apiUrl: string | null, say: string): string {
  return [
    '',
    'try next, in another terminal in this folder:',
    `  npx holdfast send "${say}"`,
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
