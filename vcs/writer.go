package vcs

import (
	"context"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

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
