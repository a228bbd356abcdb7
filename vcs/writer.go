package vcs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// writer writes a tree into a folder.
type writer struct {
	repository *Repository
	options    checkoutOptions

	// files are how many there are, with links and folders, folders all of these, outer ones first, links all of these.
	files          int64
	folders, links []string
	// track asks for tracked, the files and links.
	track   bool
	tracked []tracked
	// bytes are how many are written in files.
	bytes    atomic.Int64
	mu       sync.Mutex
	warnings []string
}

// job is some files of a folder that are to be written.
type job struct {
	folder string
	files  []entry
}

const (
	// jobsAtOnce is how many jobs wait for those that do them, mostAtOnce how many files one has.
	jobsAtOnce = 64
	mostAtOnce = 32
)

// write writes what is in a tree. Nothing is followed that leads out of root.
func (w *writer) write(ctx context.Context, root *os.Root, tree plumbing.Hash) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := make(chan job, jobsAtOnce)
	var writing sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		writing.Go(func() {
			if err := w.work(ctx, root, jobs); err != nil {
				cancel(err)
			}
		})
	}
	err := w.walk(ctx, root, tree, "", 0, jobs)
	close(jobs)
	if err != nil {
		cancel(err)
	}
	writing.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return w.checkLinks(root)
}

// walk makes the folders and links of a tree, and hands out its files.
func (w *writer) walk(ctx context.Context, root *os.Root, tree plumbing.Hash, at string, depth int, jobs chan<- job) error {
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
		if mode, is := gitModes[e.mode]; is && w.track {
			w.tracked = append(w.tracked, tracked{path, mode, e.hash})
		}
		if e.mode == modeFile || e.mode == modeExecutable {
			files = append(files, e)
			continue
		}
		if err := w.other(ctx, root, e, path, depth, jobs); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(files, mostAtOnce) {
		select {
		case jobs <- job{at, some}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// other makes what isn't a file.
func (w *writer) other(ctx context.Context, root *os.Root, e entry, at string, depth int, jobs chan<- job) error {
	if e.mode == modeLink {
		return w.link(root, at, e.hash)
	}
	if e.mode == modeModule && !w.options.withoutSubmodules {
		return refuse("%s: it is a submodule, whose content is in another repository: leave it empty by WithoutSubmodules", at)
	}
	if err := root.Mkdir(at, 0o755); err != nil {
		return err
	}
	w.folders = append(w.folders, at)
	if e.mode == modeModule {
		return nil
	}
	return w.walk(ctx, root, e.hash, at, depth+1, jobs)
}

// gitModes are those of what an index has.
var gitModes = map[mode]filemode.FileMode{
	modeFile: filemode.Regular, modeExecutable: filemode.Executable, modeLink: filemode.Symlink, modeModule: filemode.Submodule,
}

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

// work does jobs. It reads with a reader of its own, so that several can.
func (w *writer) work(ctx context.Context, root *os.Root, jobs <-chan job) error {
	reader := newReader(w.repository.store, 0)
	buffer := make([]byte, 64<<10)
	for j := range jobs {
		if ctx.Err() != nil {
			return nil
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
	if c.w.bytes.Add(int64(len(p))) > c.w.options.limits.Bytes {
		return 0, refuse("files are more than %d bytes long together", c.w.options.limits.Bytes)
	}
	return c.out.Write(p)
}

// finish takes rights off folders, inner ones first.
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
