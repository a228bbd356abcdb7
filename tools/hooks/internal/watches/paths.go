package watches

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// paths finds playbooks and roles.
type paths struct {
	// dir is the folder of relative paths.
	dir         string
	environment Lookup
}

// playbook returns the absolute path of a playbook.
func (p paths) playbook(path string) (string, error) {
	path = p.absolute(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, fmt.Errorf("no such file: there is no %s", path)
	case err != nil:
		return path, err
	case info.IsDir():
		return path, errors.New("is a folder: name a file, or set role")
	}
	return path, nil
}

// role returns the absolute path of a role. A role that isn't found is an error that names the folders in which it was
// searched.
func (p paths) role(name string) (string, error) {
	candidates := p.roles(name)
	for _, candidate := range candidates {
		if info, err := os.Stat(candidate); err == nil && info.IsDir() {
			return candidate, nil
		}
	}
	return name, fmt.Errorf("no such role: there is none of the folders %s", strings.Join(candidates, ", "))
}

// beside returns the folder roles beside the file, empty if there is none.
func (p paths) beside() string {
	folder := p.absolute("roles")
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return ""
	}
	return folder
}

// roles returns where a role may be, in the order of the search: in a collection, in the folders of ANSIBLE_ROLES_PATH,
// and beside the file.
func (p paths) roles(name string) (all []string) {
	if filepath.IsAbs(name) {
		return []string{filepath.Clean(name)}
	}
	if parts := strings.Split(name, "."); len(parts) == 3 {
		for _, folder := range p.collections() {
			all = append(all, filepath.Join(folder, "ansible_collections", parts[0], parts[1], "roles", parts[2]))
		}
	}
	for _, folder := range p.list("ANSIBLE_ROLES_PATH") {
		all = append(all, filepath.Join(folder, name), filepath.Join(folder, "roles", name))
	}
	return append(all, p.absolute(filepath.Join("roles", name)), p.absolute(name))
}

// collections returns the folders of collections.
func (p paths) collections() []string {
	if set := p.list("ANSIBLE_COLLECTIONS_PATH"); len(set) > 0 {
		return set
	}
	all := []string{"/usr/share/ansible/collections"}
	if home, ok := p.environment("HOME"); ok && home != "" {
		all = append(all, filepath.Join(home, ".ansible", "collections"))
	}
	return all
}

// list returns the folders that a variable of the environment has. As for Ansible, they are relative to the working
// folder.
func (p paths) list(name string) (all []string) {
	text, _ := p.environment(name)
	for _, folder := range filepath.SplitList(text) {
		if path, err := filepath.Abs(folder); err == nil && folder != "" {
			all = append(all, path)
		}
	}
	return all
}

func (p paths) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.dir, path)
}
