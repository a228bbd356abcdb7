package vcs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxLink is the maximum length of a link's target, in bytes.
const maxLink = 4095

func (w *writer) link(root *os.Root, at string, hash plumbing.Hash) error {
	var target strings.Builder
	if _, err := w.repository.copyTo(&limited{&target, maxLink}, hash, plumbing.BlobObject, nil); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if strings.ContainsRune(target.String(), 0) || target.Len() == 0 {
		return refuse("%s: it is a link without a target", at)
	}
	if !w.options.outsideLinks && leadsOut(at, target.String()) {
		return refuse("%s: it is a link that leads out of the tree, to %s: keep it with the option OutsideLinks", at, target.String())
	}
	w.links = append(w.links, at)
	return root.Symlink(target.String(), at)
}

// checkLinks checks links that lead through other links. It is called when all links exist.
func (w *writer) checkLinks(root *os.Root) error {
	if w.options.outsideLinks {
		return nil
	}
	for _, at := range w.links {
		_, err := root.Stat(at)
		switch {
		case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		default: // os.Root doesn't export its error for a path that leads out of it
			return refuse("%s: it is a link that leads out of the tree through other links: keep it with the option OutsideLinks: %w", at, err)
		}
	}
	return nil
}

// leadsOut reports whether the target of a link leads out of its tree.
func leadsOut(at, target string) bool {
	if path.IsAbs(target) {
		return true
	}
	// Don't use path.Clean: a part that it would remove may be a link itself.
	depth := strings.Count(at, "/")
	for part := range strings.SplitSeq(target, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// limited is a writer that accepts at most as many bytes as its field left holds. A write of more bytes is an error.
type limited struct {
	out  io.Writer
	left int64
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, refuse("its content is too long")
	}
	return l.out.Write(p)
}
