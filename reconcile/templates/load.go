package templates

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
)

// use is what a file is for.
type use int

const (
	forData use = iota
	forObjects
	forDefines
)

type source struct {
	path, text string
	use        use
}

// readError is one of the file system.
type readError struct{ error }

func (e *readError) Unwrap() error { return e.error }

// passes tells whether the next try may read what this one couldn't: it isn't by what the files are, such as a link that leads nowhere.
func (e *readError) passes() bool {
	for _, lasting := range []error{fs.ErrNotExist, syscall.EISDIR, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EINVAL} {
		if errors.Is(e, lasting) {
			return false
		}
	}
	return true
}

// dataFolder is the name of folders that hold no templates.
const dataFolder = "files"

// load reads all files below folder, by path.
func load(files fs.FS, folder string) ([]source, error) {
	var sources []source
	err := fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &readError{err}
		case name != folder && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		use, err := useOf(name, folder)
		if err != nil {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return &readError{err}
		}
		sources = append(sources, source{name, string(text), use})
		return nil
	})
	slices.SortFunc(sources, func(a, b source) int { return strings.Compare(a.path, b.path) })
	for i := range sources {
		if sources[i].use != forData {
			sources[i].text = strings.TrimPrefix(sources[i].text, "\ufeff")
		}
	}
	return sources, err
}

func useOf(name, folder string) (use, error) {
	below := strings.TrimPrefix(path.Dir(name), folder)
	if slices.Contains(strings.Split(below, "/"), dataFolder) {
		return forData, nil
	}
	switch extension := path.Ext(name); extension {
	case ".yaml", ".yml":
		return forObjects, nil
	case ".tpl":
		return forDefines, nil
	case ".tmpl", ".gotmpl", ".template", ".j2":
		return forData, fmt.Errorf("%s: it would be no template: have its name end in .yaml, or in .tpl for defines, or put it into a folder %s", name, dataFolder)
	}
	return forData, nil
}
