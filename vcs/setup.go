package vcs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// TagsAs selects what Setup turns tags into.
type TagsAs string

// AsBranches, the default, turns tags into branches. AsTags keeps them as tags.
const (
	AsBranches TagsAs = "branches"
	AsTags     TagsAs = "tags"
)

// DefaultTags is the expression for the tags that Setup keeps if SetupOptions.Tags is nil.
const DefaultTags = `v?\d+\.\d+\.\d+`

// SetupOptions are the options of Setup. Source and Destination are required.
type SetupOptions struct {
	// Source is the path of the repository to read. Destination is the path of the repository to make.
	Source, Destination string
	// Tags and Branches are regular expressions (RE2) for the names to keep. A name is kept if one of them matches the
	// whole name, or with Prefix the beginning of the name. If Tags is nil, DefaultTags is used; if it is empty but not
	// nil, no tags are kept. If Branches is empty, no branches are kept.
	Tags, Branches []string
	Prefix         bool
	// TagsAs selects what tags become. Empty means AsBranches.
	TagsAs TagsAs
	// Force replaces the folder at the destination when the new repository is complete. Parts of the old folder that
	// can't be removed stay beside the new one, with a warning.
	Force bool
	// DryRun fills the report and writes nothing.
	DryRun bool
	// Verify reads the whole new repository back before the repository is moved to the destination. The code that reads
	// the repository is independent of the code that wrote it. Verify checks that each object matches its name, that
	// each version has the same tree as in the source, and that there is nothing else.
	Verify bool
	// NoWait makes Setup return a *ContentionError at once if others are working on the same destination.
	NoWait bool
	// Progress is called often, on the goroutine that called Setup, and should return quickly. If it is nil, no
	// progress is reported.
	Progress func(Progress)
}

// Setup makes a repository without history from a repository with history. Each kept reference becomes one commit with
// the same files, on top of an empty root commit. The result has no other commit, author or message of the source. The
// same input gives the same ids. The repository is made beside the destination and moved there when it is complete. If
// anything fails, the destination is left as it was.
//
// Errors: *ConfigError for wrong options, before anything is written; it wraps a *NoMatchError if no reference matches.
// *ContentionError if others were working on the destination until ctx ended, or at once with NoWait. *RuntimeError for
// other failures.
func Setup(ctx context.Context, options SetupOptions) (report Report, err error) {
	start := time.Now()
	defer func() { report.Took = time.Since(start) }()
	refused := func(err error) (Report, error) { return report, &ConfigError{"setup", options.Destination, err} }
	chooser, err := newChooser(options)
	if err != nil {
		return refused(err)
	}
	if strings.TrimSpace(options.Destination) == "" {
		return report, &ConfigError{"setup", "destination", errors.New("no path is given")}
	}
	if strings.TrimSpace(options.Source) == "" {
		return report, &ConfigError{"setup", "source", errors.New("no path is given")}
	}
	source, err := Open(options.Source)
	if err != nil {
		return report, err
	}
	defer func() { _ = source.Close() }()
	destination, err := checkPlaces(options)
	if err != nil {
		return refused(err)
	}
	report, err = chooser.choose(ctx, source)
	if err != nil {
		return report, &RuntimeError{"setup", destination, err}
	}
	if len(report.Kept) == 0 {
		return refused(noMatch(source, chooser, report.Skipped))
	}
	b, err := newBuilder(ctx, source, options, &report)
	if err != nil || options.DryRun {
		return report, wrapped("setup", destination, err)
	}
	return report, wrapped("setup", destination, b.advised(b.build(ctx, destination)))
}

// build makes the repository at its destination. At the end it removes the lock file; a process that waits for the lock
// makes a new one.
func (b *builder) build(ctx context.Context, destination string) (err error) {
	missing := missingParents(destination)
	defer func() {
		if err != nil {
			removeEmpty(missing)
		}
	}()
	unlock, err := lockFolder(ctx, destination, b.options.NoWait)
	if err != nil {
		return err
	}
	defer func() {
		_ = os.Remove(lockOf(destination))
		unlock()
	}()
	if err := restore(destination); err != nil {
		return err
	}
	// Somebody else may have made the destination in the meantime.
	if _, err := checkPlaces(b.options); err != nil {
		return &refusedError{err}
	}
	left, err := makeBeside(ctx, destination, b.options.Force, func(path string) error {
		if err := b.write(ctx, filepath.Join(path, ".git")); err != nil || !b.options.Verify {
			return err
		}
		return b.verify(ctx, filepath.Join(path, ".git"))
	})
	b.report.Warnings = append(b.report.Warnings, left...)
	return err
}

// write writes the repository into a folder.
func (b *builder) write(ctx context.Context, git string) error {
	for _, folder := range []string{"", "objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(git, folder), 0o755); err != nil {
			return err
		}
	}
	if err := b.writePack(ctx, filepath.Join(git, "objects", "pack")); err != nil {
		return b.source.explained(err)
	}
	lines := make([]string, len(b.report.Kept))
	for i, kept := range b.report.Kept {
		lines[i] = string(kept.Commit) + " " + kept.Full + "\n"
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[41:], b[41:]) })
	for name, text := range map[string]string{
		"HEAD": string(b.report.Root) + "\n", "config": cloneConfig, "packed-refs": "# pack-refs with: sorted \n" + strings.Join(lines, ""),
	} {
		if err := writeDurable(filepath.Join(git, name), text); err != nil {
			return err
		}
	}
	return errors.Join(syncFolder(filepath.Join(git, "objects", "pack")), syncFolder(git))
}

// writeDurable writes and syncs a file.
func writeDurable(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Sync(), file.Close())
}

// Phase is a step of Setup.
type Phase string

// The phases, in order.
const (
	// Reading collects the objects of the versions.
	Reading Phase = "reading"
	// Packing writes the objects, Verifying reads them back.
	Packing   Phase = "packing"
	Verifying Phase = "verifying"
)

// Progress is the progress of a phase of Setup.
type Progress struct {
	// Phase is the current phase.
	Phase Phase
	// Done and Total count versions while Reading, and objects otherwise. Each phase begins with 0 done.
	Done, Total int
}

func (b *builder) progress(phase Phase, done, total int) {
	if b.options.Progress != nil {
		b.options.Progress(Progress{phase, done, total})
	}
}

// Report describes the result of Setup.
type Report struct {
	// Kept are the kept references, tags before branches, both sorted by name. Skipped are the other tags and branches.
	Kept    []Kept
	Skipped []Skipped
	// Warnings are about files whose content isn't in the repository, such as files in Git LFS, and about old files
	// that couldn't be removed.
	Warnings []string
	// Root is the empty commit below all others. Objects is the number of objects. Bytes is the length of their pack, 0
	// after a dry run.
	Root    Commit
	Objects int
	Bytes   int64
	// SourceBytes is the total length of the packs and loose objects of the source.
	SourceBytes int64
	// Took is the time that Setup took.
	Took time.Duration
}

// Kept is a reference that was kept.
type Kept struct {
	// Ref is the reference of the source. Name and Full are its short and its full name in the result.
	Ref        Ref
	Name, Full string
	// Commit is the commit in the result. Tree is the id of its tree, the same as in the source.
	Commit Commit
	Tree   string
}

// Skipped is a reference that wasn't kept.
type Skipped struct {
	// Ref is the reference of the source. Reason is the reason why it wasn't kept.
	Ref    Ref
	Reason string
}
