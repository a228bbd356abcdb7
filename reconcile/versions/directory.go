package versions

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// found are the versions that the directory holds, ascending as text.
func (o Options) found() ([]string, error) {
	entries, err := os.ReadDir(o.Directory)
	if err != nil {
		return nil, fmt.Errorf("versions: the directory can't be read: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue // a volume of Kubernetes holds its content once more in such folders
		}
		if info, err := os.Stat(o.program(entry.Name())); err == nil && info.Mode().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// program is the path of a version's program. The version is the name of a folder.
func (o Options) program(version string) string { return filepath.Join(o.Directory, version, o.Entry) }
