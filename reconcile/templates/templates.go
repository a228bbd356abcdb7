package templates

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"
)

// Templates are the parsed files of a folder. They don't change, and serve any number of goroutines.
type Templates struct {
	folder     string
	options    options
	components map[string]*component
	// data are the files that aren't templates, by path.
	data map[string]string
	// all holds every file and every define.
	all *template.Template
	// places tell where a piece of text comes from.
	places places
	// secretive are the names of the templates that a Secret may be made with.
	secretive map[string]bool
	// mutate tells that some template changes its values.
	mutate  bool
	runners sync.Pool
}

// component is a folder.
type component struct {
	folder string
	// files are the names of its templates, ascending.
	files []string
}

// Parse reads the templates of folder, which is "." for all of files. An error names every file that can't be
// used, see Error; so it is for a folder without any template.
func Parse(files fs.FS, folder string, opts ...Option) (*Templates, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	if files == nil || !fs.ValidPath(folder) {
		return nil, fmt.Errorf("templates: folder %q: is no path in a file system: it has neither ., .. nor a slash at its ends", folder)
	}
	sources, err := load(files, folder)
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	t := &Templates{folder: folder, options: o, components: map[string]*component{}, data: map[string]string{}, places: places{}}
	for _, source := range sources {
		t.add(source)
	}
	if len(t.components) == 0 {
		return nil, fmt.Errorf("templates: folder %s: has no file that ends in .yaml", folder)
	}
	if err := t.parse(sources); err != nil {
		return nil, err
	}
	t.runners.New = func() any { return t.newRunner() }
	// The first one is made here: what Clone and Funcs have against it is an error of Parse.
	first, err := t.tryRunner()
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	t.runners.Put(first)
	return t, nil
}

// add notes what a file is for.
func (t *Templates) add(s source) {
	switch s.use {
	case forData:
		t.data[s.path] = s.text
	case forObjects:
		name := t.within(path.Dir(s.path))
		if t.components[name] == nil {
			t.components[name] = &component{folder: path.Dir(s.path)}
		}
		t.components[name].files = append(t.components[name].files, s.path)
	}
}

// within is a path below the folder.
func (t *Templates) within(name string) string {
	switch {
	case t.folder == ".":
		return name
	case name == t.folder:
		return "."
	}
	return strings.TrimPrefix(name, t.folder+"/")
}

// Components returns the names of the components, ascending.
func (t *Templates) Components() []string {
	if t == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(t.components))
}

func (t *Templates) component(name string) (*component, error) {
	if t == nil {
		return nil, errors.New("templates: there are none: Parse has answered an error")
	}
	if found := t.components[name]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("templates: folder %s: has no component %q: it has %s", t.folder, name, strings.Join(t.Components(), ", "))
}
