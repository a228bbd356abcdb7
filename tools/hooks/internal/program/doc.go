// Package program calls hooks that are programs: with a process for each call, or with processes that stay and answer
// line by line.
//
// The processes are no prison: they run as the same user, and may read what that user may read.
package program
