package vcs

import "time"

// Report is what Setup has made.
type Report struct {
	// Kept are the references, by name, Skipped the tags and branches that aren't, with the reason.
	Kept    []Kept
	Skipped []Skipped
	// Warnings are what whoever uses the versions may want to know, such as that a file is kept by Git LFS elsewhere.
	Warnings []string
	// Root is the empty commit below all others, Objects how many objects there are, Bytes how long their pack is.
	Root    Commit
	Objects int
	Bytes   int64
	// SourceBytes are how long the packs and files are in which the source has its objects.
	SourceBytes int64
	// Took is how long it took.
	Took time.Duration
}

// Kept is one reference that was kept.
type Kept struct {
	// Ref is the one of the source, Name what it is called in the result, Full with all of its name.
	Ref        Ref
	Name, Full string
	// Commit is the one of the result, Tree the id of its files, which is that of the source's.
	Commit Commit
	Tree   string
}

// Skipped is one reference that wasn't.
type Skipped struct {
	// Ref is the one of the source, Reason why it isn't kept.
	Ref    Ref
	Reason string
}
