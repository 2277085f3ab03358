const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

function isDate(text) {
  if (typeof text !== 'string' || !DATE.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

export function isPeople(count) {
  return Number.isInteger(count) && count >= 1 && count <= 20;
}

/** A request to reserve, or the one thing that is wrong with it. */
export function readReservation(body) {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { problem: 'the body must be a JSON object' };
  const { date, time = null, people, name = null, reference = null } = body;
  if (!isDate(date)) return { problem: 'date must be a real day as YYYY-MM-DD' };
  if (time !== null && (typeof time !== 'string' || !TIME.test(time))) return { problem: 'time must be HH:MM' };
  if (!isPeople(people)) return { problem: 'people must be a whole number from 1 to 20' };
  if (name !== null && (typeof name !== 'string' || name.length > 200)) return { problem: 'name must be text of at most 200 characters' };
  if (reference !== null && (typeof reference !== 'string' || reference.length > 300)) return { problem: 'reference must be text of at most 300 characters' };
  return { wanted: { date, time, people, name }, reference };
}

/** Reads `?date=…&people=…`; `people` defaults to 1. */
export function readAvailability(query) {
  const date = query.get('date');
  const people = Number(query.get('people') ?? '1');
  if (!isDate(date)) return { problem: 'date must be a real day as YYYY-MM-DD' };
  if (!isPeople(people)) return { problem: 'people must be a whole number from 1 to 20' };
  return { date, people };
}
