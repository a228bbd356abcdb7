// Package pack reads and writes packs of git objects and their indexes. Packs may be malicious: lengths are checked
// before memory is allocated for them, chains of deltas are bounded, and whatever doesn't fit is [ErrBroken]. The
// caller has to check that content matches its name.
//
// It uses go-git where that is fast enough: to apply deltas and to write indexes. go-git v5 can't do the following,
// which is why this package exists:
//
//   - Copy an object as it is packed, delta included. go-git unpacks what it writes and searches deltas anew.
//   - Return the kind or the length of an object without unpacking it.
//   - Unpack at the speed of compress/zlib: its scanner reads the pack byte by byte through a checksum.
//   - Read a pack from several goroutines, each with a reader of its own, and only the needed parts of its index.
//   - Refuse an index or a chain of deltas that asks for more memory than its file can hold.
//   - Make short deltas: its own are several times as long as those of [Diff].
package pack
