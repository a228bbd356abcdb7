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

// TagsAs says what tags become in the result of Setup.
type TagsAs string

// What tags may become: branches, as oper8 has it, is the default.
const (
	AsBranches TagsAs = "branches"
	AsTags     TagsAs = "tags"
)

// DefaultTags are the tags that Setup keeps if nothing else is said.
const DefaultTags = `v?\d+\.\d+\.\d+`

// SetupOptions say what Setup does. Source and Destination have to be given.
type SetupOptions struct {
	// Source is the path of a repository, Destination that of the one to be made.
	Source, Destination string
	// Tags and Branches are regular expressions of the names that are kept, of which one has to match all of a name, or with Prefix its beginning. No
	// expression keeps none, but nil Tags keep those of DefaultTags.
	Tags, Branches []string
	Prefix         bool
	// TagsAs is what tags become; empty: branches.
	TagsAs TagsAs
	// Force replaces what is there, once the new repository is complete. What of it can't be removed then stays beside it, with a warning.
	Force bool
	// DryRun reports what would be kept, and makes nothing.
	DryRun bool
	// Verify reads the new repository back before it takes its place, all of it and not by what wrote it: each object is what its name says, each
	// version has the tree of the source's, and there is nothing else.
	Verify bool
	// NoWait doesn't wait for others who work on the same destination: it is a *ContentionError.
	NoWait bool
	// Progress is told how far the work is, often, and by the goroutine that called Setup: it has to return soon. Nil tells nobody.
	Progress func(Progress)
}

// Setup makes a repository of single versions out of one with a history (spec: vcs 22-27): one commit for each reference that is kept, on an empty
// root, with the same files, and nothing else of the source: no other commit, no author, no message. It is made beside the destination and put
// there when it is complete; the same input makes the same ids. Whatever fails leaves what was there, and nothing besides.
//
// Errors are *ConfigError for what was asked, found out before anything is touched, of which *NoMatchError says that there is nothing to keep;
// *ContentionError if somebody else works on the destination; and *RuntimeError for what failed.
func Setup(ctx context.Context, options SetupOptions) (report Report, err error) {
	start := time.Now()
	defer func() { report.Took = time.Since(start) }()
	refused := func(err error) (Report, error) { return report, &ConfigError{"setup", options.Destination, err} }
	chooser, err := newChooser(options)
	if err != nil {
		return refused(err)
	}
	if strings.TrimSpace(options.Destination) == "" {
		return report, &ConfigError{"setup", "destination", errors.New("none is given")}
	}
	source, err := openSource(options.Source)
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

// build makes the repository in its place. The file of the lock doesn't stay: whoever waits for it makes another one.
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
	// Somebody else may have made it while this one waited.
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

// writeDurable writes a file so that it is on the disk.
func writeDurable(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Sync(), file.Close())
}
