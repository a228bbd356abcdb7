package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/vcs"
)

// check has both sides do all measured work once, and compares the results.
func (l lab) check() error {
	return errors.Join(checkSetup(l.large), checkSetup(l.small), checkCheckout(l.large, large.last()), checkCheckout(l.small, small.last()), checkRefs(l.crowded))
}

// checkSetup compares repositories of versions: their references, and all their objects.
func checkSetup(source string) error {
	return inScratch(func(folder string) error {
		ours, theirs := filepath.Join(folder, "ours"), filepath.Join(folder, "git")
		if err := errors.Join(ourSetup(source, ours), gitSetup(source, theirs)); err != nil {
			return err
		}
		if _, err := git(ours, "fsck", "--strict"); err != nil {
			return err
		}
		for _, args := range [][]string{
			{"for-each-ref"}, {"rev-parse", "HEAD"}, {"cat-file", "--batch-all-objects", "--batch-check"},
		} {
			if err := sameAnswer(ours, theirs, args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// sameAnswer runs the same git command in two repositories, and returns an error if the outputs differ.
func sameAnswer(ours, theirs string, args ...string) error {
	a, err := git(ours, args...)
	if err != nil {
		return err
	}
	b, err := git(theirs, args...)
	if err == nil && a != b {
		err = fmt.Errorf("git %s says something else of what vcs makes than of what git makes", strings.Join(args, " "))
	}
	return err
}

// checkCheckout compares the files of a version.
func checkCheckout(source, version string) error {
	return inScratch(func(folder string) error {
		ours, theirs, copied := filepath.Join(folder, "ours"), filepath.Join(folder, "git"), filepath.Join(folder, "source")
		repository, err := vcs.Open(source)
		if err != nil {
			return err
		}
		_, err = repository.Checkout(context.Background(), version, ours, vcs.Worktree)
		if err = errors.Join(err, repository.Close()); err != nil {
			return err
		}
		if err := copyRepository(source, copied); err != nil {
			return err
		}
		if _, err := git(copied, "worktree", "add", "-q", "--detach", theirs, version); err != nil {
			return err
		}
		a, err := sums(ours)
		if err != nil {
			return err
		}
		b, err := sums(theirs)
		if err != nil {
			return err
		}
		return sameMaps(a, b)
	})
}

func sameMaps(ours, theirs map[string]string) error {
	for name, sum := range theirs {
		if ours[name] != sum {
			return fmt.Errorf("%s: vcs makes %q of it, git %q", name, ours[name], sum)
		}
	}
	if len(ours) != len(theirs) {
		return fmt.Errorf("vcs makes %d of what git makes %d", len(ours), len(theirs))
	}
	return nil
}

// sums returns the kinds and hashes of the files below a folder, without each side's own metadata.
func sums(folder string) (map[string]string, error) {
	found := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Dir(path) == folder && (e.Name() == ".git" || e.Name() == ".operkit-checkout") {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		found[name] = fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256(content))
		return err
	})
	return found, err
}

// checkRefs compares references, and the commits that they resolve to.
func checkRefs(source string) error {
	out, err := git(source, "for-each-ref", "--format=%(refname) %(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)")
	if err != nil {
		return err
	}
	repository, err := vcs.Open(source)
	if err != nil {
		return err
	}
	refs, err := repository.Refs(context.Background())
	if err = errors.Join(err, repository.Close()); err != nil {
		return err
	}
	var ours strings.Builder
	for _, ref := range refs {
		fmt.Fprintf(&ours, "%s %s\n", ref.Full, ref.Commit)
	}
	if ours.String() != out {
		return errors.New("vcs lists other references than git")
	}
	return nil
}
