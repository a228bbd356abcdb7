package vcs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
)

// reference is one as it is written down: in a file of its own, or in packed-refs. go-git reads them too, but not what packed-refs says of tags, so that each
// has to be unpacked; it takes longer than git does for all together.
type reference struct {
	name string
	hash plumbing.Hash
	// peeled is what a tag comes to, zero if that isn't written down.
	peeled plumbing.Hash
	// target is the name of the one to which a symbolic one points.
	target string
}

const (
	packedRefs = "packed-refs"
	// mostRefs is how long the file packed-refs may be, mostRef that of one reference, mostLevels how deep references may be in folders.
	mostRefs   = 256 << 20
	mostRef    = 4096
	mostLevels = 256
)

// references are those that aren't symbolic, by name.
func (r *Repository) references() ([]reference, error) {
	all, err := r.looseRefs("refs", nil, 0)
	if err != nil {
		return nil, err
	}
	own := len(all)
	text, err := r.packedRefs()
	if err != nil {
		return nil, err
	}
	if all, err = parsePackedRefs(text, all); err != nil {
		return nil, err
	}
	// Of two of one name the file of its own, which was before the others, is the newer one.
	if own > 0 || !slices.IsSortedFunc(all, byName) {
		slices.SortStableFunc(all, byName)
	}
	all = slices.CompactFunc(all, func(a, b reference) bool { return a.name == b.name })
	return slices.DeleteFunc(all, func(one reference) bool { return one.target != "" }), nil
}

func byName(a, b reference) int { return cmp.Compare(a.name, b.name) }

// looseRefs adds the references that have a file of their own in a folder. What is no reference, such as what was left of one that was being written, isn't
// looked at. A folder goes when git has packed what was in it.
func (r *Repository) looseRefs(folder string, all []reference, level int) ([]reference, error) {
	entries, err := fs.ReadDir(r.store.root.FS(), folder)
	if errors.Is(err, fs.ErrNotExist) && level > 0 {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	if level > mostLevels {
		return nil, fmt.Errorf("%s: folders are more than %d deep", folder, mostLevels)
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if e.IsDir() {
			if all, err = r.looseRefs(name, all, level+1); err != nil {
				return nil, err
			}
			continue
		}
		if strings.HasSuffix(name, ".lock") {
			continue
		}
		one, err := r.looseRef(r.store.root, name)
		if err != nil && !errors.Is(err, errNoRef) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil || errors.Is(err, errNoRef) {
			all = append(all, one)
		}
	}
	return all, nil
}

var errNoRef = errors.New("it is neither the id of an object nor the name of another reference")

// looseRef reads a reference that has a file of its own.
func (r *Repository) looseRef(root *os.Root, name string) (reference, error) {
	one := reference{name: name}
	file, err := openFile(root, name)
	if err != nil {
		return one, err
	}
	text, err := io.ReadAll(io.LimitReader(file, mostRef))
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

// mostLinks is how many symbolic references are followed.
const mostLinks = 5

// reference is what a reference of a full name points to.
func (r *Repository) reference(name string) (hash plumbing.Hash, found bool, err error) {
	for range mostLinks {
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
	return plumbing.ZeroHash, false, fmt.Errorf("reference %s: it points to another one, %d times over", name, mostLinks)
}

// written finds a reference: fs.ErrNotExist if there is none.
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

// isFolderOf tells that there are references below a name.
func isFolderOf(root *os.Root, name string) bool {
	info, err := root.Stat(name)
	return err == nil && info.IsDir()
}
