/** Most rows of any list. */
export const MAX_LIST = 500;
