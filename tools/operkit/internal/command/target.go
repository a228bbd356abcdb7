package command

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/operkit/internal/name"
	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/source"
)

// target is a kind of the project for which the operator will answer the API server.
type target struct {
	// values are for the templates: the kind, its group, and the version that the controller uses.
	values project.Values
	// versions are the versions of the kind, in the order of their folders.
	versions []project.API
	// operator is the name of the operator.
	operator string
}

// target finds a kind in the project. group may be empty.
func (p *program) target(opened *project.Project, kind, group string) (target, error) {
	t := target{values: project.Values{Module: opened.Module, Kind: kind, Versions: p.versions}}
	var groups, kinds []string
	for _, api := range opened.APIs() {
		found := opened.Folder(api.Folder).Kinds()
		kinds = append(kinds, found...)
		if !slices.Contains(found, kind) || group != "" && api.Group != group {
			continue
		}
		t.versions = append(t.versions, api)
		if !slices.Contains(groups, api.Group) {
			groups = append(groups, api.Group)
		}
	}
	slices.Sort(kinds)
	switch {
	case len(groups) > 1:
		return t, fmt.Errorf("--group: is missing: %s is a kind of the groups %s", kind, listed(groups))
	case len(groups) == 0 && group != "":
		return t, fmt.Errorf("kind %s: the operator has no Go types of it in the group %s", kind, group)
	case len(groups) == 0:
		return t, fmt.Errorf("kind %s: the operator has no Go types of it: it has %s: use one of these, or run 'operkit add kind %s'",
			kind, listed(slices.Compact(kinds)), kind)
	}
	t.values.Group = groups[0]
	t.place(opened)
	if t.operator = nameOf(opened); t.operator == "" {
		return t, fmt.Errorf("main.go: calls no full.New(\"NAME\") of operkit's package operator/full: the Service needs the operator's name")
	}
	if err := name.Operator(t.operator); err != nil {
		return t, fmt.Errorf("main.go: %w", err)
	}
	for _, api := range t.versions {
		if !opened.Folder(api.Folder).Declares(kind + "Kind") {
			return t, fmt.Errorf("kind %s: %s declares no %sKind: add\n  var %sKind = schema.GroupVersionKind{Group: %q, Version: %q, Kind: %q}",
				kind, api.Folder, kind, kind, api.Group, api.Version, kind)
		}
	}
	return t, nil
}

// nameOf returns the name that the program gives to the operator, or "".
func nameOf(opened *project.Project) string {
	for _, file := range opened.Programs() {
		if operator := file.Operator(); operator != "" {
			return operator
		}
	}
	return ""
}

// place sets the package of the kind's controller, and the version that it uses. Without a controller it is the package
// that a controller would have.
func (t *target) place(opened *project.Project) {
	kind := t.values.Kind
	t.values.Folder, t.values.Package = "internal/"+name.Package(kind), name.Package(kind)
	for _, c := range opened.Controllers() {
		if c.For(kind) && c.Folder.Name() != "main" {
			t.values.Folder, t.values.Package = opened.Relative(c.Folder.Path), c.Folder.Name()
			t.values.Controlled = c.Type == "Controller" && path.Dir(t.values.Folder) == "internal"
			break
		}
	}
	folder := opened.Folder(t.values.Folder)
	if of := folder.Name(); of != "" {
		t.values.Package = of
	}
	var used, stored, all []string
	for _, api := range t.versions {
		all = append(all, api.Version)
		if opened.Folder(api.Folder).Stored(kind) {
			stored = append(stored, api.Version)
		}
		if withoutOwn(folder).Imports(opened.Module + "/" + api.Folder) {
			used = append(used, api.Version)
		}
	}
	t.use(name.NewestVersion(used...))
	if len(used) == 0 {
		t.use(name.NewestVersion(stored...))
	}
	if len(used)+len(stored) == 0 {
		t.use(name.NewestVersion(all...))
	}
}

// withoutOwn returns a controller's package without the files of conversions, which use several versions, and of
// webhooks.
func withoutOwn(folder source.Folder) source.Folder {
	folder.Files = slices.DeleteFunc(slices.Clone(folder.Files), func(file *source.File) bool {
		return file.Base() == "webhooks.go" || strings.HasPrefix(file.Base(), "conversion")
	})
	return folder
}

// use sets the version of the values.
func (t *target) use(version string) {
	if api, found := t.version(version); found {
		t.values.Version, t.values.API = api.Version, api.Folder
	}
}

// version returns a version of the kind.
func (t *target) version(version string) (project.API, bool) {
	for _, api := range t.versions {
		if api.Version == version {
			return api, true
		}
	}
	return project.API{}, false
}

// names returns the versions of the kind.
func (t *target) names() (names []string) {
	for _, api := range t.versions {
		names = append(names, api.Version)
	}
	return names
}

// importPath returns the path of the package with webhooks and conversion.
func (t *target) importPath() string { return t.values.Module + "/" + t.values.Folder }

// checkFree returns an error if new files declare names that other files of their folder declare already, or if a file
// of such a name exists without the function that is expected there.
func checkFree(opened *project.Project, t target, files []project.File, function string) error {
	kind := t.values.Kind
	for _, file := range files {
		if path.Ext(file.Path) != ".go" {
			continue
		}
		folder := opened.Folder(path.Dir(file.Path))
		base := path.Base(file.Path)
		parsed, err := source.Parse(file.Path, file.Text)
		if err != nil {
			return err
		}
		declared := parsed.Declared()
		if folder.Has(base) && slices.Contains(declared, function) && !folder.Declares(function) {
			return fmt.Errorf("kind %s: %s exists, but declares no %s: rename that file", kind, file.Path, function)
		}
		for _, taken := range declared {
			if other := folder.Without(base).Declaring(taken); other != nil && taken != function {
				return fmt.Errorf("kind %s: %s declares %s already, which %s needs: rename one of them", kind, opened.Relative(other.Path), taken, base)
			}
		}
	}
	return nil
}
