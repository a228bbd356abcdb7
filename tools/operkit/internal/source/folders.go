package source

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Folders reads all Go packages of the module in root: without nested modules, hidden folders, vendor and testdata.
func Folders(root string) ([]Folder, error) {
	var found []Folder
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if path != root && outside(path, entry.Name()) {
			return filepath.SkipDir
		}
		folder, err := ReadFolder(path)
		if err == nil && len(folder.Files) > 0 {
			found = append(found, folder)
		}
		return err
	})
	return found, err
}

func outside(path, name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "vendor" || name == "testdata" {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}
