package vcs

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/operkit/operkit/vcs/internal/pack"
)

// loose is an open object in a file of its own. The file has "KIND SIZE\0" and the content, compressed together.
type loose struct {
	kind    plumbing.ObjectType
	size    int64
	content io.Reader
	file    *os.File
}

// maxLooseHead is the maximum length of "KIND SIZE\0".
const maxLooseHead = 32

// openLoose opens an object that isn't packed. It returns plumbing.ErrObjectNotFound if there is none.
func (s *store) openLoose(hash plumbing.Hash) (*loose, error) {
	name := hash.String()
	file, err := openFile(s.root, "objects/"+name[:2]+"/"+name[2:])
	if errors.Is(err, fs.ErrNotExist) {
		return nil, plumbing.ErrObjectNotFound
	}
	if err != nil {
		return nil, err
	}
	l := &loose{file: file}
	if err := l.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("its file is broken: %w", err), file.Close())
	}
	return l, nil
}

func (l *loose) begin() error {
	z, err := zlib.NewReader(bufio.NewReader(l.file))
	if err != nil {
		return err
	}
	text := bufio.NewReader(z)
	head, err := text.Peek(maxLooseHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head, _, found := bytes.Cut(head, []byte{0})
	kind, digits, _ := strings.Cut(string(head), " ")
	size, sizeErr := strconv.ParseInt(digits, 10, 63)
	l.kind, err = plumbing.ParseObjectType(kind)
	if errors.Join(err, sizeErr) != nil || !found || l.kind.IsDelta() || size < 0 {
		return errors.New("it doesn't begin with the header of an object")
	}
	if _, err := text.Discard(len(head) + 1); err != nil {
		return err
	}
	// Read up to one byte more than size, so that a wrong size is noticed.
	l.size, l.content = size, io.LimitReader(text, size+1)
	return nil
}

// small returns the content of an object that isn't longer than maxMetadata.
func (l *loose) small() ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(l.content, maxMetadata+1))
	if err == nil && len(text) > maxMetadata {
		err = pack.ErrTooLarge
	}
	return text, err
}

// looseWithPrefix returns the loose objects whose names begin with the given digits. There have to be at least four
// digits.
func (s *store) looseWithPrefix(digits string) (hashes []plumbing.Hash, err error) {
	entries, err := fs.ReadDir(s.root.FS(), "objects/"+digits[:2])
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if name := digits[:2] + e.Name(); strings.HasPrefix(name, digits) && plumbing.IsHash(name) && len(name) == 40 {
			hashes = append(hashes, plumbing.NewHash(name))
		}
	}
	return hashes, err
}
