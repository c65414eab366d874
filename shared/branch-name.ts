/** Letters, digits, dot, dash, underscore: a name is typed in shells, URLs and deep links. */
export const branchName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
