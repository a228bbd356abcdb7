package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// generation is raised when the generator changes what it makes of the same parameters.
const generation = 1

// fixture says what a repository is made of. The same one always gives the same objects.
type fixture struct {
	// seed is where chance begins.
	seed uint64
	// tags are how many there are, each some commits after the one before; annotated, every fourth.
	tags int
	// commits are how many there are for each tag, changes how many files each of them changes.
	commits, changes int
	// files and bytes are what the tree of the first tag has.
	files, bytes int
}

var (
	// large is the repository of an operator with many releases.
	large = fixture{seed: 11, tags: 200, commits: 3, changes: 8, files: 3000, bytes: 56 << 20}
	// small is one with few.
	small = fixture{seed: 12, tags: 10, commits: 3, changes: 4, files: 120, bytes: 1 << 20}
	// crowded has a tag for each of its many commits.
	crowded = fixture{seed: 13, tags: 5000, commits: 1, changes: 1, files: 20, bytes: 20 << 10}
)

// path is where the repository is, in one pack as after git gc. It is made when it isn't there: in the folder of the
// user for what can be made again, by a name that tells the parameters.
func (f fixture) path() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %+v", generation, f))
	path := filepath.Join(cache, "operkit", "peers-vcs", hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	half, err := os.MkdirTemp(filepath.Dir(path), ".half-")
	if err != nil {
		return "", err
	}
	if err := f.generate(half); err != nil {
		return "", errors.Join(err, os.RemoveAll(half))
	}
	return path, os.Rename(half, path)
}

// generate makes the repository in a folder.
func (f fixture) generate(folder string) error {
	if _, err := git(folder, "init", "-q", "-b", "main"); err != nil {
		return err
	}
	if err := f.importInto(folder); err != nil {
		return err
	}
	// What fast-import has written whole stays so in a plain repack, where history as people make it has deltas.
	_, err := git(folder, "-c", "pack.threads=1", "repack", "-adfq")
	if err == nil {
		_, err = git(folder, "gc", "-q")
	}
	return err
}

// names are those of the tags.
func (f fixture) names() []string {
	names := make([]string, f.tags)
	for i := range names {
		names[i] = fmt.Sprintf("%d.%d.%d", i/100+1, i/10%10, i%10)
		if f.tags > 1000 {
			names[i] = fmt.Sprintf("1.%d.%d", i/100, i%100)
		}
	}
	return names
}

// last is the name of the newest tag, newest those of some, the newest last.
func (f fixture) last() string              { return f.newest(1)[0] }
func (f fixture) newest(count int) []string { return f.names()[f.tags-count:] }
