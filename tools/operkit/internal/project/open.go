package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/operkit/internal/source"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Project is an existing operator.
type Project struct {
	// Root is its folder, which contains go.mod.
	Root string
	// Module is the path of its Go module.
	Module string
	// ControllerTools is the version of controller-gen that it requires, or empty if it doesn't require controller-gen.
	ControllerTools string
	// Folders are its Go packages.
	Folders []source.Folder
	// required are the versions of the modules that it requires, and indirect those that only its requirements need.
	required map[string]string
	indirect map[string]bool
}

// API is a folder with the Go types of kinds.
type API struct {
	// Folder is the path below the root, with slashes.
	Folder         string
	Group, Version string
}

// Open reads the project that dir is in.
func Open(dir string) (*Project, error) {
	root, err := rootOf(dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	file, err := modfile.ParseLax(filepath.Join(root, "go.mod"), text, nil)
	if err != nil {
		return nil, err
	}
	if file.Module == nil {
		return nil, fmt.Errorf("%s: names no module", filepath.Join(root, "go.mod"))
	}
	p := &Project{Root: root, Module: file.Module.Mod.Path, required: map[string]string{}, indirect: map[string]bool{}}
	for _, one := range file.Require {
		p.required[one.Mod.Path], p.indirect[one.Mod.Path] = one.Mod.Version, one.Indirect
	}
	p.ControllerTools = p.required[ControllerTools]
	if p.Folders, err = source.Folders(root); err != nil {
		return nil, err
	}
	return p, nil
}

// Untidy reports whether `go mod tidy` has to run before the project can import apply configurations: its go.mod states
// their module as one that only other modules need.
func (p *Project) Untidy() bool { return p.indirect[clientGo] }

// Outdated returns what the project should require instead of older versions, as arguments of `go get`: the modules of a
// new project. A module for which there is no released version isn't outdated if the project requires any version of it.
func (p *Project) Outdated(versions Versions) (outdated []string) {
	for _, module := range []struct{ path, version string }{
		{Operator, versions.Operator}, {Envtest, versions.Envtest}, {ControllerTools, versions.ControllerTools},
	} {
		has := p.required[module.path]
		if has == "" || semver.IsValid(module.version) && semver.Compare(has, module.version) < 0 {
			outdated = append(outdated, module.path+"@"+module.version)
		}
	}
	return outdated
}

// rootOf returns the nearest folder that has a go.mod: dir or a parent.
func rootOf(dir string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for root := from; ; root = filepath.Dir(root) {
		_, err := os.Stat(filepath.Join(root, "go.mod"))
		switch {
		case err == nil:
			return root, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		case root == filepath.Dir(root):
			return "", fmt.Errorf("%s: isn't in an operator: there is no go.mod in this folder or its parents: change into the folder of an operator, or run 'operkit init'", from)
		}
	}
}

// Folder returns the package in a folder of the project; relative is its path with slashes. If there is none, the
// result has no files.
func (p *Project) Folder(relative string) source.Folder {
	path := filepath.Join(p.Root, filepath.FromSlash(relative))
	for _, folder := range p.Folders {
		if folder.Path == path {
			return folder
		}
	}
	return source.Folder{Path: path}
}

// Relative returns a path relative to the root, with slashes.
func (p *Project) Relative(path string) string {
	relative, err := filepath.Rel(p.Root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(relative)
}

// APIs returns the folders with Go types of kinds: folders with a comment that names their group for controller-gen.
func (p *Project) APIs() (found []API) {
	for _, folder := range p.Folders {
		if group := folder.Marker("groupName"); group != "" {
			found = append(found, API{p.Relative(folder.Path), group, filepath.Base(folder.Path)})
		}
	}
	return found
}

// Groups returns the groups of the project's kinds, each once.
func (p *Project) Groups() (groups []string) {
	for _, api := range p.APIs() {
		if !slices.Contains(groups, api.Group) {
			groups = append(groups, api.Group)
		}
	}
	return groups
}

// Versions returns the versions of a group that have kinds, each once.
func (p *Project) Versions(group string) (versions []string) {
	for _, api := range p.APIs() {
		if api.Group == group && !slices.Contains(versions, api.Version) {
			versions = append(versions, api.Version)
		}
	}
	return versions
}

// APIFolder returns the folder for the types of a group's version, whether it exists or not. That is api/v1; if another
// group uses it, api/apps/v1; and if another group uses that, too, api/apps.example.com/v1.
func (p *Project) APIFolder(group, version string) string {
	for _, api := range p.APIs() {
		if api.Group == group && api.Version == version {
			return api.Folder
		}
	}
	first, _, _ := strings.Cut(group, ".")
	for _, folder := range []string{"api/" + version, "api/" + first + "/" + version} {
		if len(p.Folder(folder).Files) == 0 {
			return folder
		}
	}
	return "api/" + group + "/" + version
}

// Controllers returns the controllers of the project.
func (p *Project) Controllers() []source.Controller { return source.Controllers(p.Folders) }

// Programs returns the files of the program in the project's root.
func (p *Project) Programs() (files []*source.File) {
	for _, file := range p.Folder(".").Files {
		if file.IsProgram() {
			files = append(files, file)
		}
	}
	return files
}
