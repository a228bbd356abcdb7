// Package update merges the changes of a scaffold into a project. For each file there are three texts: the base, which
// is the file as operkit wrote it; the project's own; and the next, which operkit writes today. Texts that two have in
// common stay or are taken, and what all three have differently is merged line by line by `git merge-file`, with
// conflict markers where both sides changed the same lines.
//
// Merge only plans: Change.Apply writes.
package update
