package vcs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	TagsAs         TagsAs
	// Force replaces what is there, once the new repository is complete.
	Force bool
	// DryRun reports what would be kept, and makes nothing.
	DryRun bool
}

// Report is what Setup has made.
type Report struct {
	// Kept are the references, by name, Skipped the tags and branches that aren't, with the reason.
	Kept    []Kept
	Skipped []Skipped
	// Root is the empty commit below all others, Objects how many objects there are, Bytes how long their pack is.
	Root    Commit
	Objects int
	Bytes   int64
}

// Kept is one reference that was kept.
type Kept struct {
	// Ref is the one of the source, Name what it is called in the result.
	Ref  Ref
	Name string
	// Commit is the one of the result, Tree the id of its files, which is that of the source's.
	Commit Commit
	Tree   string
}

// Skipped is one reference that wasn't.
type Skipped struct {
	Ref    Ref
	Reason string
}

// Setup makes a repository of single versions out of one with a history (spec: vcs 22-27): one commit for each reference that is kept, on an empty
// root, with the same files, and nothing else of the source: no other commit, no author, no message. It is made beside the destination and put
// there when it is complete; the same input makes the same ids. Errors are *ConfigError for what was asked, of which *NoMatchError says that
// there is nothing to keep, and *RuntimeError for what failed.
func Setup(ctx context.Context, options SetupOptions) (Report, error) {
	refused := func(err error) (Report, error) { return Report{}, &ConfigError{"setup", options.Destination, err} }
	chooser, err := newChooser(options)
	if err != nil {
		return refused(err)
	}
	source, err := Open(options.Source)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = source.Close() }()
	destination, err := checkPlaces(options)
	if err != nil {
		return refused(err)
	}
	refs, err := source.Refs(ctx)
	if err != nil {
		return Report{}, err
	}
	report := chooser.choose(refs)
	if len(report.Kept) == 0 {
		return report, &ConfigError{"setup", options.Destination, newNoMatch(report.Skipped)}
	}
	b, err := newBuilder(ctx, source, chooser, &report)
	if err != nil {
		return report, wrapped("setup", destination, err)
	}
	if options.DryRun {
		return report, nil
	}
	return report, wrapped("setup", destination, b.build(ctx, destination, options.Force))
}

// checkPlaces refuses places that would harm somebody, before anything is touched (spec: vcs 23, W16).
func checkPlaces(options SetupOptions) (destination string, err error) {
	if strings.TrimSpace(options.Destination) == "" {
		return "", errors.New("no destination is given")
	}
	destination, err = filepath.Abs(options.Destination)
	if err != nil {
		return "", err
	}
	source, err := filepath.Abs(options.Source)
	if err == nil {
		source, err = filepath.EvalSymlinks(source)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(destination)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		return "", errors.New("it is a symbolic link")
	case !info.IsDir():
		return "", errors.New("it is a file")
	case !options.Force && !errors.Is(emptyOr(destination, errForeign), errAbsent):
		return "", errors.New("it isn't empty: force replaces what is there")
	}
	real := realPath(destination)
	switch {
	case real == source:
		return "", errors.New("it is the source")
	case isBelow(real, source):
		return "", fmt.Errorf("it is inside of the source %s", source)
	case isBelow(source, real):
		return "", fmt.Errorf("the source %s is inside of it", source)
	}
	return destination, nil
}

// realPath is a path without links, as far as there is something.
func realPath(path string) string {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(found, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

func isBelow(path, above string) bool {
	below, err := filepath.Rel(above, path)
	return err == nil && filepath.IsLocal(below)
}

// build makes the repository in its place.
func (b *builder) build(ctx context.Context, destination string, force bool) error {
	unlock, err := lockFolder(ctx, destination, false)
	if err != nil {
		return err
	}
	defer unlock()
	return makeBeside(ctx, destination, force, func(path string) error { return b.write(ctx, filepath.Join(path, ".git")) })
}

// write writes the repository into a folder.
func (b *builder) write(ctx context.Context, git string) error {
	for _, folder := range []string{"", "objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(git, folder), 0o755); err != nil {
			return err
		}
	}
	if err := b.writePack(ctx, filepath.Join(git, "objects", "pack")); err != nil {
		return err
	}
	lines := make([]string, len(b.report.Kept))
	for i, kept := range b.report.Kept {
		lines[i] = string(kept.Commit) + " " + b.full(kept) + "\n"
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[41:], b[41:]) })
	for name, text := range map[string]string{
		"HEAD": string(b.report.Root) + "\n", "config": cloneConfig, "packed-refs": "# pack-refs with: sorted \n" + strings.Join(lines, ""),
	} {
		if err := os.WriteFile(filepath.Join(git, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
