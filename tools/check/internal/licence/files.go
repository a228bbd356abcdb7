package licence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// known is the share of a text, in percent, that has to be that of licences: the rest is names, years and headings.
const known = 75

// Of gives the licences whose texts the root of dir holds, by their SPDX names, sorted and each once. The error tells of a
// folder without a licence and of a text that is not one of a known licence.
func Of(dir string) ([]string, error) {
	files, err := texts(dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("no licence file")
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		found := licensecheck.Scan(text)
		if found.Percent < known || len(found.Match) == 0 {
			return nil, fmt.Errorf("%s: %.0f %% of it is the text of a known licence: it has to be read", file, found.Percent)
		}
		for _, match := range found.Match {
			names = append(names, match.ID)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// texts are the files of a folder whose names say that they hold a licence. One for its documentation is left out: nothing
// of that is compiled.
func texts(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		name := strings.ToUpper(entry.Name())
		named := slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "UNLICENSE"}, func(prefix string) bool {
			return strings.HasPrefix(name, prefix)
		})
		if named && entry.Type().IsRegular() && !strings.HasSuffix(name, ".GO") && !strings.HasSuffix(name, ".DOCS") {
			files = append(files, entry.Name())
		}
	}
	return files, nil
}
