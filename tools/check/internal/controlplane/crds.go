package controlplane

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// CRDs lists the folders with custom resource definitions: each config/crd below examples and reconcile. The control
// plane is given all of them at its start, since its garbage collector finds kinds that come later only after a while.
func CRDs(root string) ([]string, error) {
	var folders []string
	for _, top := range []string{"examples", "reconcile"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			if entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			if entry.Name() == "crd" && filepath.Base(filepath.Dir(path)) == "config" {
				folders = append(folders, path)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return folders, nil
}
