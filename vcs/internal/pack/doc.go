// Package pack reads and writes packs of git objects and their indexes. What it reads may have been made by somebody
// who means harm: lengths are checked before memory is taken for them, chains of deltas have an end, and what doesn't
// fit is [ErrBroken]. Whether content is what its name says is for the caller to check.
//
// It stands on go-git where that is fast enough: deltas are applied and indexes are written by it. What go-git v5 can't
// do, and why this package is kept:
//
//   - Copy an object as it is packed, delta included. go-git unpacks what it writes and searches deltas anew.
//   - Tell the kind or the length of an object without unpacking it.
//   - Unpack at the speed of compress/zlib: its scanner reads the pack byte by byte through a checksum.
//   - Read a pack from several goroutines, each with a reader of its own, and only the needed parts of its index.
//   - Refuse an index or a chain of deltas that asks for more memory than its file can hold.
//   - Make short deltas: its own are several times as long as those of [Diff].
package pack
