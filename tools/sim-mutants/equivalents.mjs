// Mutants that change nothing a program can see, each with the reason. Listed by what was changed, not by line.

export const equivalents = []
