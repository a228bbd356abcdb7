// Package record keeps what operkit has written into a project, in the project's folder .operkit: the answers that were
// given, and the base, which is the text of each file as operkit wrote it. From these `operkit update` makes a three-way
// merge: from the base to the project are the edits of people, from the base to the present scaffold are the changes of
// operkit.
//
// The base itself is kept, although an older release could make it again from the answers. So an update needs no older
// release, no network, and no history of git, and it works for versions that were never released. The price is a text
// file of some 30 kB in the project.
//
// Generated files and go.mod aren't part of the base: they are brought up to date by the commands that generate them.
// Lines that `operkit add` has inserted into existing files count as edits of people.
package record
