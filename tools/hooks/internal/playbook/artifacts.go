package playbook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/operkit/operkit/tools/hooks/internal/process"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxOutput is how much of the output of a run is kept, in bytes.
const maxOutput = 10 << 20

// The files of the artifacts of a run.
const (
	outputFile = "output"
	eventsFile = "events.jsonl"
)

// artifacts are the files of a run that are kept after it.
type artifacts struct {
	dir            string
	output, events *os.File
}

// ArtifactsOf returns the folder with the artifacts of an object, in which each run has a folder.
func (r *Runner) ArtifactsOf(kind schema.GroupKind, namespace, name string) string {
	if namespace == "" {
		namespace = "_" // which is no namespace
	}
	return filepath.Join(r.config.Folder, "artifacts", kind.String(), namespace, name)
}

// Forget deletes the artifacts of an object that is gone. A name that no object has is an error.
func (r *Runner) Forget(kind schema.GroupKind, namespace, name string) error {
	if !isSegment(name) || namespace != "" && !isSegment(namespace) || !isSegment(kind.String()) {
		return fmt.Errorf("playbook: %q/%q of %q: not the name of an object", namespace, name, kind)
	}
	return os.RemoveAll(r.ArtifactsOf(kind, namespace, name))
}

// newArtifacts makes the artifacts of a run, and deletes those of runs that aren't kept any more.
func (r *Runner) newArtifacts(in *Input) (a *artifacts, err error) {
	all := r.ArtifactsOf(in.Entry.Kind.GroupKind(), in.Object.GetNamespace(), in.Object.GetName())
	if err := os.MkdirAll(all, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(all, r.config.Now().UTC().Format("20060102T150405.000000000Z")+"-*")
	if err != nil {
		return nil, err
	}
	a = &artifacts{dir: dir}
	const flags = os.O_CREATE | os.O_EXCL | os.O_RDWR
	a.output, err = os.OpenFile(filepath.Join(dir, outputFile), flags, 0o600)
	if err == nil {
		a.events, err = os.OpenFile(filepath.Join(dir, eventsFile), flags, 0o600)
	}
	if err == nil {
		err = rotate(all, in.MaxArtifacts)
	}
	if err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *artifacts) close() {
	_ = a.output.Close() // a file that is nil is an error, too
	_ = a.events.Close()
}

// rotate deletes the oldest folders of runs, up to a number. If that isn't positive, all stay.
func rotate(dir string, keep int) error {
	if keep <= 0 {
		return nil
	}
	entries, err := os.ReadDir(dir) // sorted by their names, which begin with the time
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return !entry.IsDir() })
	var errs []error
	for _, entry := range entries[:max(0, len(entries)-keep)] {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, entry.Name())))
	}
	return errors.Join(errs...)
}

// output keeps the begin of what is written in a file, and the end in memory. It is safe for concurrent use.
type output struct {
	tail process.Tail

	mu   sync.Mutex
	file *os.File
	left int
}

// Write implements io.Writer. It never fails: a run doesn't depend on what is kept of it.
func (o *output) Write(text []byte) (int, error) {
	_, _ = o.tail.Write(text)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.left > 0 {
		_, _ = o.file.Write(text[:min(len(text), o.left)])
		if o.left -= len(text); o.left <= 0 {
			_, _ = fmt.Fprintf(o.file, "\n[more than %d bytes: the rest isn't kept]\n", maxOutput)
		}
	}
	return len(text), nil
}
