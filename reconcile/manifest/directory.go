package manifest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
)

// Directory keeps renderings as files. It is safe for concurrent use; two processes may share a directory if they don't
// write the same resource.
type Directory struct {
	name    string
	root    *os.Root
	options options

	mu sync.Mutex
	// complained has the last logged errors, by component.
	complained map[string]string
}

// Open opens a directory and creates it if necessary. Nothing is written outside of it, not even through a link.
func Open(name string, opts ...Option) (*Directory, error) {
	if err := os.MkdirAll(name, directoryMode); err != nil {
		return nil, fmt.Errorf("manifests: %w", err)
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("manifests: %w", err)
	}
	return &Directory{name: name, root: root, options: newOptions(opts), complained: map[string]string{}}, nil
}

// Close closes the directory; the files stay. Write then returns an error.
func (d *Directory) Close() error { return d.root.Close() }

// Write writes all components of a resource and removes files of its former components. It returns the paths of the
// files in the order of the components; a component without objects has no file. If a component can't be written, the
// other components are still written, but nothing is removed.
func (d *Directory) Write(resource deploy.Ref, components []Component) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var files, paths []string
	var errs []error
	for _, component := range components {
		file, err := d.write(resource, component)
		switch {
		case err != nil:
			errs = append(errs, err)
		case file != "":
			files, paths = append(files, file), append(paths, filepath.Join(d.name, filepath.FromSlash(file)))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, d.keep(resource, files))
	}
	return paths, errors.Join(errs...)
}

// Remove removes the files of a resource.
func (d *Directory) Remove(resource deploy.Ref) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.keep(resource, nil)
}

// write writes one component. It returns the file's name in the directory, empty if there is nothing to write.
func (d *Directory) write(resource deploy.Ref, component Component) (string, error) {
	if !d.options.writes(component) {
		return "", nil
	}
	content, err := d.options.encoded(component)
	if err != nil {
		return "", err
	}
	file := fileOf(resource, component)
	if err := d.replace(file, content); err != nil {
		return "", fmt.Errorf("manifests: %s: component %s: %w", resource, component.Name, err)
	}
	return file, nil
}

// replace writes a new file beside the old one and renames it to file. If file has this content already, nothing is
// written.
func (d *Directory) replace(file string, content []byte) error {
	if d.has(file, content) {
		return nil
	}
	if err := d.root.MkdirAll(path.Dir(file), directoryMode); err != nil {
		return err
	}
	temporary := path.Join(path.Dir(file), "."+rand.Text()+suffix+".tmp")
	out, err := d.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	if err = errors.Join(err, out.Close()); err == nil {
		err = d.root.Rename(temporary, file)
	}
	if err != nil {
		return errors.Join(err, d.root.Remove(temporary))
	}
	return nil
}

// has reports whether a file is as it should be, its mode included.
func (d *Directory) has(file string, content []byte) bool {
	info, err := d.root.Lstat(file)
	if err != nil || info.Mode() != fileMode {
		return false
	}
	existing, err := d.root.ReadFile(file)
	return err == nil && string(existing) == string(content)
}

// keep removes all files of the resource except files, and folders that are empty then.
func (d *Directory) keep(resource deploy.Ref, files []string) error {
	return d.sweep(folderOf(resource), func(file string) bool { return !slices.Contains(files, file) })
}

// sweep removes our stale files below folder, and folders that are empty then.
func (d *Directory) sweep(folder string, stale func(file string) bool) error {
	entries, err := fs.ReadDir(d.root.FS(), folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	left := 0
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		switch {
		case entry.IsDir():
			errs = append(errs, d.sweep(name, stale))
			if _, err := d.root.Lstat(name); err == nil {
				left++
			}
		case isOurs(entry.Name()) && stale(name):
			errs = append(errs, d.root.Remove(name))
		default:
			left++
		}
	}
	if left == 0 && errors.Join(errs...) == nil {
		errs = append(errs, d.root.Remove(folder))
	}
	return errors.Join(errs...)
}

// isOurs reports whether name has the form of the names that this package gives to files.
func isOurs(name string) bool {
	return strings.HasSuffix(name, suffix) || strings.HasPrefix(name, ".") && strings.HasSuffix(name, suffix+".tmp")
}
