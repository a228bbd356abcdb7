package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/tools/check/repository"
)

// oldFileName is the name of the files that RULES.md replaces.
const oldFileName = "rules.txt"

// readOld reads the old files of modules that have no new one yet. Lines like "dag 1-34, 36" hold numbers alone.
func readOld(r *repository.Repository) (places []Place, problems []string, err error) {
	for _, m := range r.Modules {
		text, err := os.ReadFile(filepath.Join(r.Folder(m), oldFileName))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		name := m.Dir + "/" + oldFileName
		if _, err := os.Stat(filepath.Join(r.Folder(m), FileName)); err == nil {
			problems = append(problems, fmt.Sprintf("%s: %s replaces it: remove it", name, FileName))
			continue
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			line, _, _ = strings.Cut(line, "#")
			fields := strings.Fields(line)
			if len(fields) < 2 {
				continue
			}
			for part := range strings.SplitSeq(strings.Join(fields[1:], ""), ",") {
				var first, last int
				if n, _ := fmt.Sscanf(part, "%d-%d", &first, &last); n == 1 {
					last = first
				}
				for n := first; n <= last; n++ {
					places = append(places, Place{Rule: Rule{Topic: fields[0], Number: n}, File: name, Line: number})
				}
			}
		}
	}
	return places, problems, nil
}
