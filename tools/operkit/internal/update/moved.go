package update

import (
	"bytes"
	"maps"
	"path"
	"slices"

	"github.com/operkit/operkit/tools/operkit/internal/project"
)

// alike is the part of the lines that a file and its former version have in common at least, as in git.
const alike = 0.5

// moved returns the former paths, by their new paths, of files that the scaffold has moved: files that only the next
// scaffold has, with the text that is most like it of those that only the base has. A file isn't moved to a path that the
// project uses.
func (m merge) moved() (map[string]string, error) {
	moved := map[string]string{}
	left := slices.DeleteFunc(slices.Sorted(maps.Keys(m.base)), func(path string) bool { return m.next[path] != nil })
	for _, to := range slices.Sorted(maps.Keys(m.next)) {
		if m.base[to] != nil {
			continue
		}
		if _, there, err := read(m.root, to); err != nil || there {
			if err != nil {
				return nil, err
			}
			continue
		}
		best, most := "", alike
		for _, from := range left {
			if common := similarity(m.base[from], m.next[to]); path.Ext(from) == path.Ext(to) && common >= most && !isValue(moved, from) {
				best, most = from, common
			}
		}
		if best != "" {
			moved[to] = best
		}
	}
	return moved, nil
}

// similarity returns the part of the lines of the longer text that both texts have, from 0 to 1. Empty lines don't count.
func similarity(a, b []byte) float64 {
	counts := map[string]int{}
	lines := func(text []byte, each func(line string)) (n int) {
		for line := range bytes.Lines(text) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				n++
				each(string(line))
			}
		}
		return n
	}
	common := 0
	all := lines(a, func(line string) { counts[line]++ })
	all = max(all, lines(b, func(line string) {
		if counts[line] > 0 {
			counts[line]--
			common++
		}
	}))
	if all == 0 {
		return 0
	}
	return float64(common) / float64(all)
}

func isValue(moved map[string]string, path string) bool {
	return slices.Contains(slices.Collect(maps.Values(moved)), path)
}

func texts(files []project.File) map[string][]byte {
	texts := map[string][]byte{}
	for _, file := range files {
		texts[file.Path] = file.Text
	}
	return texts
}

// paths returns the paths that any of the maps has, sorted.
func paths(a, b map[string][]byte) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
