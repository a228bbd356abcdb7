package snapshot

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// sums are the lines of a go.sum: the checksums of versions of modules, and of their go.mod files where the version ends with
// "/go.mod".
type sums map[module.Version][]string

// newSums reads a go.sum, without the lines about modules of the repository. What is no line of a go.sum is passed over.
func newSums(text []byte, ours func(modulePath string) bool) sums {
	s := sums{}
	for line := range bytes.Lines(text) {
		if fields := strings.Fields(string(line)); len(fields) == 3 && !ours(fields[0]) {
			s.add(fields[0], fields[1], fields[2])
		}
	}
	return s
}

func (s sums) add(path, version, sum string) {
	key := module.Version{Path: path, Version: version}
	if !slices.Contains(s[key], sum) {
		s[key] = append(s[key], sum)
	}
}

// format gives the lines in the order that the go command gives them.
func (s sums) format() []byte {
	keys := slices.Collect(maps.Keys(s))
	module.Sort(keys)
	var out bytes.Buffer
	for _, key := range keys {
		slices.Sort(s[key])
		for _, sum := range s[key] {
			fmt.Fprintf(&out, "%s %s %s\n", key.Path, key.Version, sum)
		}
	}
	return out.Bytes()
}
