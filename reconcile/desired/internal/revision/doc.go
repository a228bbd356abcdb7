// Package revision has the revisions of a parent: states of the fields that a roll follows, and the children that are
// still as an earlier state wants them. It is pure.
package revision
