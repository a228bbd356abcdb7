package vcs

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
)

// mode is what an entry of a tree is.
type mode int

const (
	modeFile mode = iota
	modeExecutable
	modeLink
	modeFolder
	modeModule
)

// modes are those that git writes, and has written.
var modes = map[string]mode{
	"100644": modeFile, "100664": modeFile, "100755": modeExecutable, "120000": modeLink, "40000": modeFolder, "040000": modeFolder, "160000": modeModule,
}

// entry is one of a tree.
type entry struct {
	name string
	mode mode
	hash plumbing.Hash
}

// tree reads the entries of a tree. Names that could lead anywhere else than below the tree are an error, and so are two of one name.
func (r *Repository) tree(hash plumbing.Hash) ([]entry, error) {
	obj, err := r.object(plumbing.TreeObject, hash)
	var text []byte
	if err == nil {
		text, err = content(obj)
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

// parseTree reads entries, each of which is "MODE NAME\0" and twenty bytes.
func parseTree(text []byte) (entries []entry, err error) {
	seen := map[string]bool{}
	for len(text) > 0 {
		head, rest, ok := bytes.Cut(text, []byte{0})
		digits, name, spaced := strings.Cut(string(head), " ")
		if !ok || !spaced || len(rest) < len(plumbing.Hash{}) {
			return nil, errors.New("it is broken")
		}
		what, known := modes[digits]
		if !known {
			return nil, fmt.Errorf("entry %q: its mode %q isn't known", name, digits)
		}
		if err := checkName(name); err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("entry %q: there are two of that name", name)
		}
		seen[name] = true
		one := entry{name: name, mode: what}
		copy(one.hash[:], rest)
		entries, text = append(entries, one), rest[len(one.hash):]
	}
	return entries, nil
}

// longestName is how long the name of a file may be.
const longestName = 255

// checkName refuses what can't be the name of a file below a folder, and what some file system takes for the folder .git.
func checkName(name string) error {
	refused := func(why string) error { return fmt.Errorf("entry %q: %s", name, why) }
	switch {
	case name == "" || name == "." || name == "..":
		return refused("it is no name")
	case strings.ContainsRune(name, '/'):
		return refused("it is a path")
	case len(name) > longestName:
		return refused("it is too long")
	case isGit(name):
		return refused("it is git's own folder")
	case name == markerName:
		return refused("that name is needed for the mark of a checkout")
	}
	return nil
}

// isGit tells whether a file system may take a name for .git: without regard to case, to what Windows leaves out at the end, to the
// short name that it gives, and to letters that macOS doesn't see.
func isGit(name string) bool {
	if colon := strings.IndexByte(name, ':'); colon >= 0 {
		name = name[:colon] // a stream of a file on Windows
	}
	name = strings.ToLower(strings.TrimRight(strings.Map(seen, name), " ."))
	return name == ".git" || name == "git~1"
}

// seen leaves out what HFS+ ignores in names.
func seen(r rune) rune {
	switch {
	case r == utf8.RuneError, r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
