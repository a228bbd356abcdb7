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
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/operkit/operkit/vcs/internal/pack"
	"golang.org/x/sync/errgroup"
)

// writer writes a tree into a folder.
type writer struct {
	repository *Repository
	options    checkoutOptions

	// files counts files, links and folders. folders are all folders, parents before children. links are all links.
	files          int64
	folders, links []string
	// tracked are the files and links. They are collected only if track is set.
	track   bool
	tracked []tracked
	// bytes counts the bytes that are written to files.
	bytes    atomic.Int64
	mu       sync.Mutex
	warnings []string
	// readers are the readers that no goroutine uses at the moment.
	readers sync.Pool
	writing *errgroup.Group
}

// maxAtOnce is the maximum number of files of a folder that one goroutine writes.
const maxAtOnce = 32

// write writes the content of a tree. It never follows a path that leads out of root.
func (w *writer) write(ctx context.Context, root *os.Root, tree plumbing.Hash) error {
	w.writing, ctx = errgroup.WithContext(ctx)
	w.writing.SetLimit(runtime.GOMAXPROCS(0) + 1)
	w.writing.Go(func() error { return w.walk(ctx, root, tree, "", 0) })
	if err := w.writing.Wait(); err != nil {
		return err
	}
	return w.checkLinks(root)
}

// walk makes the folders and links of a tree, and starts goroutines that write its files.
func (w *writer) walk(ctx context.Context, root *os.Root, tree plumbing.Hash, at string, depth int) error {
	if depth > w.options.limits.Depth {
		return refuse("%s: folders are more than %d deep", at, w.options.limits.Depth)
	}
	entries, err := w.repository.tree(tree)
	if err != nil {
		return err
	}
	if w.files += int64(len(entries)); w.files > w.options.limits.Files {
		return refuse("there are more than %d files", w.options.limits.Files)
	}
	var files []entry
	for _, e := range entries {
		path := path.Join(at, e.name)
		if w.track && e.mode != modeFolder {
			w.tracked = append(w.tracked, tracked{path, e.mode, e.hash})
		}
		if e.mode == modeFile || e.mode == modeExecutable {
			files = append(files, e)
		} else if err := w.other(ctx, root, e, path, depth); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(files, maxAtOnce) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.writing.Go(func() error { return w.some(ctx, root, at, some) })
	}
	return nil
}

// other makes an entry that isn't a file: a link, a folder or the folder of a submodule.
func (w *writer) other(ctx context.Context, root *os.Root, e entry, at string, depth int) error {
	if e.mode == modeLink {
		return w.link(root, at, e.hash)
	}
	if e.mode == modeModule && !w.options.withoutSubmodules {
		return refuse("%s: it is a submodule, whose content is in another repository: leave it empty with the option WithoutSubmodules", at)
	}
	if err := root.Mkdir(at, 0o755); err != nil {
		return err
	}
	w.folders = append(w.folders, at)
	if e.mode == modeModule {
		return nil
	}
	return w.walk(ctx, root, e.hash, at, depth+1)
}

// some writes files of one folder. It opens the folder once for all of them.
func (w *writer) some(ctx context.Context, root *os.Root, at string, files []entry) (err error) {
	reader, is := w.readers.Get().(*blobReader)
	if !is {
		reader = &blobReader{newReader(w.repository.store, 0, w.options.limits.Bytes), make([]byte, 64<<10)}
	}
	defer w.readers.Put(reader)
	folder, err := root.OpenRoot(cmp.Or(at, "."))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	for _, e := range files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := w.file(folder, reader, at, e); err != nil {
			return fmt.Errorf("%s: %w", path.Join(at, e.name), err)
		}
	}
	return nil
}

// blobReader is a reader with a buffer for copying files.
type blobReader struct {
	*reader
	buffer []byte
}

// lfs is the beginning of each pointer file of Git LFS. maxLFS is the maximum length of such a file.
var lfs = []byte("version https://git-lfs.github.com/spec/")

const maxLFS = 1024

func (w *writer) file(folder *os.Root, reader *blobReader, at string, e entry) error {
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
	written, err := reader.copyTo(content, e.hash, plumbing.BlobObject, reader.buffer)
	if errors.Is(err, pack.ErrTooLarge) {
		err = w.tooMuch()
	}
	if err == nil && w.options.durable {
		err = file.Sync()
	}
	if err == nil && written <= maxLFS && bytes.HasPrefix(content.head, lfs) {
		w.mu.Lock()
		w.warnings = append(w.warnings, path.Join(at, e.name)+": "+inLFS)
		w.mu.Unlock()
	}
	return errors.Join(err, file.Close())
}

// content writes a file, checks the limit for all files together, and keeps the beginning of the file.
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

// count adds written bytes, and returns an error if they exceed the limit.
func (w *writer) count(bytes int64) error {
	if w.bytes.Add(bytes) > w.options.limits.Bytes {
		return w.tooMuch()
	}
	return nil
}

func (w *writer) tooMuch() error {
	return refuse("the files together are longer than %d bytes", w.options.limits.Bytes)
}

// finish makes the folders read-only if the option is set, children before parents.
func (w *writer) finish(root *os.Root) error {
	if !w.options.readOnly {
		return nil
	}
	for i := len(w.folders) - 1; i >= 0; i-- {
		if err := root.Chmod(w.folders[i], 0o555); err != nil {
			return err
		}
	}
	return root.Chmod(".", 0o555)
}
