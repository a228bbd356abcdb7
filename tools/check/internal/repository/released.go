package repository

import "path/filepath"

// ChangelogFile is the name of the file by which a module says that it is released.
const ChangelogFile = "CHANGELOG.md"

// Released lists the modules that are released: those with a changelog, in the order of Modules.
func (r *Repository) Released() []Module {
	var released []Module
	for _, m := range r.Modules {
		if isFile(filepath.Join(r.Folder(m), ChangelogFile)) {
			released = append(released, m)
		}
	}
	return released
}
