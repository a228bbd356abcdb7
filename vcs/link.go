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

// longestLink is how long the target of a link may be.
const longestLink = 4095

func (w *writer) link(root *os.Root, at string, hash plumbing.Hash) error {
	var target strings.Builder
	if _, err := w.repository.copyTo(&limited{&target, longestLink}, hash, plumbing.BlobObject, nil); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if strings.ContainsRune(target.String(), 0) || target.Len() == 0 {
		return refuse("%s: it is a link to nothing", at)
	}
	if !w.options.outsideLinks && leadsOut(at, target.String()) {
		return refuse("%s: it is a link that leads out of the tree, to %s: keep it by OutsideLinks", at, target.String())
	}
	w.links = append(w.links, at)
	return root.Symlink(target.String(), at)
}

// checkLinks looks where links lead that lead through others, now that all are there.
func (w *writer) checkLinks(root *os.Root) error {
	if w.options.outsideLinks {
		return nil
	}
	for _, at := range w.links {
		_, err := root.Stat(at)
		switch {
		case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		default: // the one that a Root has for a path that leads out of it can't be told from others by a name
			return refuse("%s: it is a link that leads out of the tree through other links: keep it by OutsideLinks: %w", at, err)
		}
	}
	return nil
}

// leadsOut tells whether the text of a link leads out of the tree that it is in.
func leadsOut(at, target string) bool {
	if path.IsAbs(target) {
		return true
	}
	// Not cleaned, so that no part is left out by which another link would be gone through.
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

// limited fails when more is written than there is room for.
type limited struct {
	out  io.Writer
	left int64
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, refuse("it is too long")
	}
	return l.out.Write(p)
}
