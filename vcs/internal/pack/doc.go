// Package pack reads and writes packs of git objects and their indexes. Packs may be malicious: lengths are checked
// before memory is allocated for them, chains of deltas are limited, and invalid data returns [ErrBroken]. The caller
// has to check that content matches its name.
//
// It uses go-git where go-git is fast enough: to apply deltas and to write indexes. This package exists because go-git
// v5 can't do the following:
//
//   - Copy an object in its packed form, including deltas. go-git unpacks the objects that it writes and searches for
//     deltas again.
//   - Return the kind or the length of an object without unpacking it.
//   - Unpack at the speed of compress/zlib. The scanner of go-git reads the pack byte by byte through a checksum.
//   - Read a pack from several goroutines, each with a reader of its own, and only the needed parts of its index.
//   - Refuse an index or a chain of deltas that claims more content than its file can hold, before memory is allocated.
//   - Make short deltas. The deltas of go-git are several times as long as those of [Diff].
package pack
