// Package snapshot holds the files of one module as they were at some moment: in the working tree, or at a revision.
//
// [Files.Publish] turns them into the files of a published version, which differ from the tree only in go.mod and
// go.sum: lines that replace modules of the repository are removed, and requirements of these modules get versions.
// [Files.Zip] returns the archive that a module proxy serves.
package snapshot
