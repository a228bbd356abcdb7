package vcs

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// packedRefs is the file that has many references.
func (r *Repository) packedRefs() (string, error) {
	file, err := openFile(r.store.root, packedRefs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	info, err := file.Stat()
	if err == nil && info.Size() > mostRefs {
		err = fmt.Errorf("%s is longer than %d bytes", packedRefs, mostRefs)
	}
	if err != nil {
		return "", errors.Join(err, file.Close())
	}
	var text strings.Builder
	text.Grow(int(info.Size()))
	_, err = io.Copy(&text, file)
	return text.String(), errors.Join(err, file.Close())
}

// parsePackedRefs adds what packed-refs says: lines of an id and a name, of which that of a tag may be followed by "^" and the id of what it comes to.
func parsePackedRefs(text string, all []reference) ([]reference, error) {
	all = slices.Grow(all, strings.Count(text, " refs/"))
	first := len(all)
	for number := 1; text != ""; number++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if line = strings.TrimSuffix(line, "\r"); line == "" || line[0] == '#' {
			continue
		}
		var one reference
		peeled := line[0] == '^'
		digits, name, _ := strings.Cut(strings.TrimPrefix(line, "^"), " ")
		if n, err := hex.Decode(one.hash[:], []byte(digits[:min(len(digits), 40)])); err != nil || n != len(one.hash) || len(digits) != 40 || peeled == (name != "") || peeled && len(all) == first {
			return nil, fmt.Errorf("%s: line %d is no reference", packedRefs, number)
		}
		if peeled {
			all[len(all)-1].peeled = one.hash
			continue
		}
		one.name = name
		all = append(all, one)
	}
	return all, nil
}
