package update

import (
	"path"
	"strings"
)

// gone reports whether a person has deleted what a new file belongs to: all files of the base that are in its folder,
// or those of them that have its stem, as server.go for server_test.go.
func (m merge) gone(file string) (bool, error) {
	for _, group := range []func(string) string{path.Dir, stem} {
		had, has := false, false
		for other := range m.base {
			if group(other) != group(file) {
				continue
			}
			_, there, err := read(m.root, other)
			if err != nil {
				return false, err
			}
			had, has = true, has || there
		}
		if had && !has {
			return true, nil
		}
	}
	return false, nil
}

// stem returns the path without the ends .go and _test.go, by which files of Go belong together.
func stem(file string) string { return strings.TrimSuffix(strings.TrimSuffix(file, ".go"), "_test") }
