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

// generation has to be incremented when the generator creates other objects from the same parameters.
const generation = 1

// fixture has the parameters of a repository. Equal parameters always give the same objects.
type fixture struct {
	// seed is the seed of the random generator.
	seed uint64
	// tags is the number of tags, with some commits between them. Every fourth tag is annotated.
	tags int
	// commits is the number of commits for each tag, changes the number of files that each commit changes.
	commits, changes int
	// files and bytes are the number and the total size of the files in the tree of the first tag.
	files, bytes int
}

var (
	// large is the repository of an operator with many releases.
	large = fixture{seed: 11, tags: 200, commits: 3, changes: 8, files: 3000, bytes: 56 << 20}
	// small is a repository with few releases.
	small = fixture{seed: 12, tags: 10, commits: 3, changes: 4, files: 120, bytes: 1 << 20}
	// crowded has a tag for each of its many commits.
	crowded = fixture{seed: 13, tags: 5000, commits: 1, changes: 1, files: 20, bytes: 20 << 10}
)

// path returns the path of the repository, which has one pack as after git gc. If it doesn't exist, path generates it
// in the user's cache folder. Its name depends on the parameters.
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
	// -f recomputes deltas: a plain repack would keep whole objects of fast-import that are deltas in real
	// repositories.
	_, err := git(folder, "-c", "pack.threads=1", "repack", "-adfq")
	if err == nil {
		_, err = git(folder, "gc", "-q")
	}
	return err
}

// names returns the names of the tags.
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

// last returns the name of the newest tag. newest returns the names of the newest tags, the newest last.
func (f fixture) last() string              { return f.newest(1)[0] }
func (f fixture) newest(count int) []string { return f.names()[f.tags-count:] }
