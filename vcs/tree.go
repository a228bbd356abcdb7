package vcs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// The modes of the entries of a tree.
const (
	modeFile       = filemode.Regular
	modeExecutable = filemode.Executable
	modeLink       = filemode.Symlink
	modeFolder     = filemode.Dir
	modeModule     = filemode.Submodule
)

// modeOf parses a mode. For a mode that git has written for files in the past, it returns modeFile. Of the modes that
// begin with 0, only the one of a folder is known, since other programs wrote it.
func modeOf(digits string) (mode filemode.FileMode, known bool) {
	if strings.HasPrefix(digits, "0") && digits != "040000" {
		return 0, false
	}
	mode, err := filemode.New(digits)
	if mode == filemode.Deprecated {
		mode = modeFile
	}
	return mode, err == nil && !mode.IsMalformed()
}

// entry is an entry of a tree.
type entry struct {
	name string
	mode filemode.FileMode
	hash plumbing.Hash
}

// tree returns the entries of a tree. Names that could lead out of the tree are an error, and so are two entries with
// one name.
func (r *reader) tree(hash plumbing.Hash) ([]entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind, text, err := r.small(hash)
	if err == nil && kind != plumbing.TreeObject {
		err = fmt.Errorf("it is a %s", kind)
	}
	var entries []entry
	if err == nil {
		entries, err = parseTree(text)
	}
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", hash, err)
	}
	return entries, nil
}

// minEntry is the minimum length of an entry: "40000 a\0" and an id.
const minEntry = 8 + len(plumbing.Hash{})

// parseTree parses entries, each of which is "MODE NAME\0" and the bytes of an id.
func parseTree(text []byte) ([]entry, error) {
	// All names share one string.
	all, at := string(text), 0
	entries := make([]entry, 0, min(len(text)/minEntry, 64))
	for at < len(all) {
		end := strings.IndexByte(all[at:], 0)
		if end < 0 || len(all)-at-end-1 < len(plumbing.Hash{}) {
			return nil, errors.New("it is broken")
		}
		digits, name, spaced := strings.Cut(all[at:at+end], " ")
		if !spaced {
			return nil, errors.New("it is broken")
		}
		what, known := modeOf(digits)
		if !known {
			return nil, fmt.Errorf("entry %q: its mode %q is unknown", name, digits)
		}
		if err := checkName(name); err != nil {
			return nil, err
		}
		at += end + 1
		one := entry{name: name, mode: what}
		at += copy(one.hash[:], text[at:])
		entries = append(entries, one)
	}
	return entries, checkTwins(entries)
}

// checkTwins refuses two entries with the same name. They needn't be neighbours: git sorts folders as if their names
// ended with a slash.
func checkTwins(entries []entry) error {
	if slices.IsSortedFunc(entries, func(a, b entry) int { return cmp.Or(strings.Compare(a.name, b.name), -1) }) {
		return nil
	}
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		if seen[e.name] {
			return fmt.Errorf("entry %q: there are two with that name", e.name)
		}
		seen[e.name] = true
	}
	return nil
}

// maxName is the maximum length of a file name, in bytes.
const maxName = 255

// checkName refuses names that lead out of their folder, and names that some file systems treat as .git.
func checkName(name string) error {
	refused := func(why string) error { return fmt.Errorf("entry %q: %s", name, why) }
	switch {
	case name == "" || name == "." || name == "..":
		return refused("it isn't a name")
	case strings.ContainsRune(name, '/'):
		return refused("it is a path")
	case len(name) > maxName:
		return refused("it is too long")
	case disguises(name, ".git"):
		return refused("it means git's own folder, at least on some file systems")
	case disguises(name, ".."):
		return refused("it means the parent folder on some file systems")
	case name == markerName:
		return refused("checkouts use that name themselves")
	}
	return nil
}

// disguises reports whether some file system may treat a name, or a part of it, as what, which is ".git" or "..". It
// ignores case, characters that Windows ignores at the end, and characters that macOS ignores. It knows the short names
// of Windows.
func disguises(name, what string) bool {
	for part := range strings.SplitSeq(name, `\`) { // \ separates folders on Windows
		if colon := strings.IndexByte(part, ':'); colon >= 0 {
			part = part[:colon] // an alternate stream on Windows
		}
		part = strings.Map(seen, part)
		short := strings.ToLower(strings.TrimRight(part, " ."))
		if what == ".git" && (short == ".git" || short == "git~1") || what == ".." && short == "" && strings.Contains(part, ".") {
			return true
		}
	}
	return false
}

// seen drops the characters that HFS+ (macOS) ignores in names.
func seen(r rune) rune {
	switch {
	case r == utf8.RuneError, r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
