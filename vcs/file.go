package vcs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/operkit/operkit/vcs/internal/pack"
)

// work does jobs. It reads with a reader of its own, so that several can.
func (w *writer) work(ctx context.Context, root *os.Root, jobs <-chan job) error {
	reader := newReader(w.repository.store, 0, w.options.limits.Bytes)
	buffer := make([]byte, 64<<10)
	for j := range jobs {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // whoever has ended it says why
		}
		if err := w.some(ctx, root, reader, j, buffer); err != nil {
			return err
		}
	}
	return nil
}

// some writes files of a folder, which is opened once for all of them.
func (w *writer) some(ctx context.Context, root *os.Root, reader *reader, j job, buffer []byte) (err error) {
	folder, err := root.OpenRoot(cmp.Or(j.folder, "."))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	for _, e := range j.files {
		if ctx.Err() != nil {
			return nil
		}
		if err := w.file(folder, reader, j.folder, e, buffer); err != nil {
			return fmt.Errorf("%s: %w", path.Join(j.folder, e.name), err)
		}
	}
	return nil
}

// lfs is how the text begins that stands for a file of Git LFS, and how long such a text is at most.
var lfs = []byte("version https://git-lfs.github.com/spec/")

const mostLFS = 1024

func (w *writer) file(folder *os.Root, reader *reader, at string, e entry, buffer []byte) error {
	mode := os.FileMode(0o644)
	if e.mode == modeExecutable {
		mode = 0o755
	}
	if w.options.readOnly {
		mode &^= 0o222
	}
	file, err := folder.OpenFile(e.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	content := &content{out: file, w: w}
	written, err := reader.copyTo(content, e.hash, plumbing.BlobObject, buffer)
	if errors.Is(err, pack.ErrTooLarge) {
		err = w.tooMuch()
	}
	if err == nil && w.options.durable {
		err = file.Sync()
	}
	if err == nil && written <= mostLFS && bytes.HasPrefix(content.head, lfs) {
		w.warn(path.Join(at, e.name) + ": its content is kept by Git LFS elsewhere")
	}
	return errors.Join(err, file.Close())
}

func (w *writer) warn(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.warnings = append(w.warnings, text)
}

// content passes that of a file on, within the limit of all files together, and keeps its beginning.
type content struct {
	out  io.Writer
	w    *writer
	head []byte
}

func (c *content) Write(p []byte) (int, error) {
	if room := len(lfs) - len(c.head); room > 0 {
		c.head = append(c.head, p[:min(room, len(p))]...)
	}
	if err := c.w.count(int64(len(p))); err != nil {
		return 0, err
	}
	return c.out.Write(p)
}

// count counts what is going to be written.
func (w *writer) count(bytes int64) error {
	if w.bytes.Add(bytes) > w.options.limits.Bytes {
		return w.tooMuch()
	}
	return nil
}

func (w *writer) tooMuch() error {
	return refuse("files are more than %d bytes long together", w.options.limits.Bytes)
}
