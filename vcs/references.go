package vcs

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
)

// reference is a reference in a file of its own or in packed-refs. go-git isn't used to read references, because it
// ignores the peeled ids in packed-refs and unpacks each tag. Unpacking the tags takes longer than git for-each-ref
// takes in all.
type reference struct {
	name string
	hash plumbing.Hash
	// peeled is the id of the object that a tag points to, zero if it isn't known.
	peeled plumbing.Hash
	// target is the name that a symbolic reference points to.
	target string
}

const (
	packedRefs = "packed-refs"
	// maxRefs is the maximum length of packed-refs, maxRef that of the file of one reference, both in bytes. maxLevels
	// is the maximum depth of nested folders.
	maxRefs   = 256 << 20
	maxRef    = 4096
	maxLevels = 256
)

// references returns the references that aren't symbolic, sorted by name.
func (r *Repository) references() ([]reference, error) {
	all, err := r.looseRefs("refs")
	if err != nil {
		return nil, err
	}
	text, err := r.packedRefs()
	if err != nil {
		return nil, err
	}
	if all, err = parsePackedRefs(text, all); err != nil {
		return nil, err
	}
	// Loose references come first in all. They are newer than packed references of the same name.
	slices.SortStableFunc(all, func(a, b reference) int { return cmp.Compare(a.name, b.name) })
	all = slices.CompactFunc(all, func(a, b reference) bool { return a.name == b.name })
	return slices.DeleteFunc(all, func(one reference) bool { return one.target != "" }), nil
}

// looseRefs returns the references that have their own files in a folder. If the content of a file isn't a reference,
// looseRefs returns the reference without an id. Lock files are ignored, and so is a folder that vanishes because git
// packs its references.
func (r *Repository) looseRefs(folder string) (all []reference, err error) {
	err = fs.WalkDir(r.store.root.FS(), folder, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != "refs":
			return nil
		case err != nil:
			return err
		case e.IsDir() && strings.Count(name, "/") > maxLevels:
			return fmt.Errorf("%s: folders are more than %d deep", name, maxLevels)
		case e.IsDir() || strings.HasSuffix(name, ".lock"):
			return nil
		}
		one, err := r.looseRef(r.store.root, name)
		switch {
		case err == nil || errors.Is(err, errNoRef):
			all = append(all, one)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		return nil
	})
	return all, err
}

var errNoRef = errors.New("it is neither the id of an object nor the name of another reference")

// looseRef reads a reference that has its own file.
func (r *Repository) looseRef(root *os.Root, name string) (reference, error) {
	one := reference{name: name}
	file, err := openFile(root, name)
	if err != nil {
		return one, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxRef))
	if err = errors.Join(err, file.Close()); err != nil {
		return one, err
	}
	line := strings.TrimSpace(string(text))
	if target, is := strings.CutPrefix(line, "ref:"); is {
		one.target = strings.TrimSpace(target)
		return one, nil
	}
	if len(line) != 40 || !plumbing.IsHash(line) {
		return one, errNoRef
	}
	one.hash = plumbing.NewHash(line)
	return one, nil
}

// maxLinks limits the symbolic references that are followed.
const maxLinks = 5

// reference returns the object that a full name points to.
func (r *Repository) reference(name string) (hash plumbing.Hash, found bool, err error) {
	for range maxLinks {
		one, err := r.written(name)
		if errors.Is(err, fs.ErrNotExist) {
			return plumbing.ZeroHash, false, nil
		}
		if err != nil {
			return plumbing.ZeroHash, false, fmt.Errorf("reference %s: %w", name, err)
		}
		if one.target == "" {
			return one.hash, true, nil
		}
		if name = one.target; checkRevision(name) != nil || !strings.HasPrefix(name, "refs/") {
			return plumbing.ZeroHash, false, fmt.Errorf("reference %s: it points to %q, which can't be a reference", one.name, name)
		}
	}
	return plumbing.ZeroHash, false, fmt.Errorf("reference %s: more than %d symbolic references follow each other", name, maxLinks)
}

// written reads a reference from its own file or from packed-refs, without following it. It returns fs.ErrNotExist if
// there is none.
func (r *Repository) written(name string) (reference, error) {
	root := r.store.root
	if !strings.HasPrefix(name, "refs/") {
		root = r.own
	}
	one, err := r.looseRef(root, name)
	switch {
	case err == nil:
		return one, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), isFolderOf(root, name):
	default:
		return one, err
	}
	text, err := r.packedRefs()
	if err != nil {
		return one, err
	}
	at := strings.Index(text, " "+name+"\n")
	if at < 40 {
		return one, fs.ErrNotExist
	}
	one.hash = plumbing.NewHash(text[at-40 : at])
	return one, nil
}

// isFolderOf reports whether a name is a folder of references.
func isFolderOf(root *os.Root, name string) bool {
	info, err := root.Stat(name)
	return err == nil && info.IsDir()
}

// packedRefs returns the content of the file packed-refs.
func (r *Repository) packedRefs() (string, error) {
	file, err := openFile(r.store.root, packedRefs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	info, err := file.Stat()
	if err == nil && info.Size() > maxRefs {
		err = fmt.Errorf("%s is longer than %d bytes", packedRefs, maxRefs)
	}
	if err != nil {
		return "", errors.Join(err, file.Close())
	}
	var text strings.Builder
	text.Grow(int(info.Size()))
	_, err = io.Copy(&text, file)
	return text.String(), errors.Join(err, file.Close())
}

// parsePackedRefs adds the references in the text of packed-refs. Each line has an id and a name. The line of a tag may
// be followed by a line with "^" and the id that the tag points to.
func parsePackedRefs(text string, all []reference) ([]reference, error) {
	all = slices.Grow(all, strings.Count(text, " refs/"))
	first := len(all)
	for number := 1; text != ""; number++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if line = strings.TrimSuffix(line, "\r"); line == "" || line[0] == '#' {
			continue
		}
		var one reference
		peeled := line[0] == '^'
		digits, name, _ := strings.Cut(strings.TrimPrefix(line, "^"), " ")
		if n, err := hex.Decode(one.hash[:], []byte(digits[:min(len(digits), 40)])); err != nil || n != len(one.hash) || len(digits) != 40 || peeled == (name != "") || peeled && len(all) == first {
			return nil, fmt.Errorf("%s: line %d isn't a reference", packedRefs, number)
		}
		if peeled {
			all[len(all)-1].peeled = one.hash
			continue
		}
		one.name = name
		all = append(all, one)
	}
	return all, nil
}
