// Package snapshot holds the files of one module as they were at some moment: in the working tree, or at a revision.
//
// [Files.Publish] turns them into what a published version of the module holds, which differs from the tree in go.mod
// and go.sum alone: the lines by which siblings are taken from the neighbouring folder leave, and requirements of
// siblings name versions. [Files.Zip] is the archive that a module proxy gives.
package snapshot
