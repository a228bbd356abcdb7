package main

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/operkit/operkit/tools/peers/ratio"
	"github.com/operkit/operkit/vcs"
)

// atOnce is how many versions are checked out at once.
const atOnce = 8

func (l lab) pairs() []ratio.Pair {
	const setup = "go test -bench Pairs/vcs-setup/ours -cpuprofile cpu.prof: how the walk over trees and the copy of the pack share the time"
	const checkout = "go test -bench Pairs/vcs-checkout/ours -cpuprofile cpu.prof: unpacking, then what is called of the system for each file"
	const references = "go test -bench Pairs/vcs-refs/ours -cpuprofile cpu.prof: reading packed-refs, then the kind of each object"
	return []ratio.Pair{
		{Name: "vcs-setup", Goal: 1, Ours: settingUp(l.large, ourSetup), Peer: settingUp(l.large, gitSetup), Hint: setup},
		{Name: "vcs-setup-small", Goal: 1, Ours: settingUp(l.small, ourSetup), Peer: settingUp(l.small, gitSetup), Hint: setup},
		{Name: "vcs-size", Goal: 1.15, Ours: weighing(l.large, ourSetup), Peer: weighing(l.large, gitSetupAndCollect), Metric: "bytes", Hint: "which deltas of the source aren't kept"},
		{Name: "vcs-checkout", Goal: 1.5, Ours: checkingOut(l.large, large, 1), Peer: addingWorktrees(l.large, large, 1), Hint: checkout},
		{Name: "vcs-checkout-small", Goal: 1.5, Ours: checkingOut(l.small, small, 1), Peer: addingWorktrees(l.small, small, 1), Hint: checkout},
		{Name: "vcs-reuse", Goal: 0.5, Ours: reusing(l.large), Peer: askingForHead(l.large), Hint: "what is read before it is known that nothing is to be done"},
		{Name: "vcs-parallel", Goal: 1.2, Ours: checkingOut(l.large, large, atOnce), Peer: addingWorktrees(l.large, large, atOnce), Hint: checkout},
		{Name: "vcs-refs", Goal: 1, Ours: listing(l.crowded), Peer: askingForRefs(l.crowded), Hint: references},
	}
}

// settingUp creates a repository of versions, each time in a new folder.
func settingUp(source string, make func(source, destination string) error) func(b *testing.B) {
	return func(b *testing.B) {
		base := b.TempDir()
		for i := 0; b.Loop(); i++ {
			must(b, make(source, filepath.Join(base, fmt.Sprint(i))))
		}
	}
}

// weighing reports the size of a repository of versions, which is created once.
func weighing(source string, make func(source, destination string) error) func(b *testing.B) {
	weigh := sync.OnceValues(func() (bytes int64, err error) {
		err = inScratch(func(folder string) (err error) {
			if err = make(source, filepath.Join(folder, "versions")); err == nil {
				bytes, err = size(folder)
			}
			return err
		})
		return bytes, err
	})
	return func(b *testing.B) {
		bytes, err := weigh()
		must(b, err)
		for b.Loop() {
		}
		b.ReportMetric(float64(bytes), "bytes")
	}
}

// checkingOut opens the repository and checks some of its newest versions out, all at once.
func checkingOut(source string, f fixture, count int) func(b *testing.B) {
	versions := f.newest(count)
	return func(b *testing.B) {
		base := b.TempDir()
		for i := 0; b.Loop(); i++ {
			repository, err := vcs.Open(source)
			must(b, err)
			together(b, versions, func(version string) error {
				_, err := repository.Checkout(b.Context(), version, filepath.Join(base, fmt.Sprint(i), version), vcs.Worktree)
				return err
			})
			must(b, repository.Close())
		}
	}
}

// addingWorktrees does the same with git: one process for each version. Each process has a copy of the repository,
// since work trees are recorded in the repository, and processes that write to the same one at once sometimes fail.
func addingWorktrees(source string, f fixture, count int) func(b *testing.B) {
	versions := f.newest(count)
	return func(b *testing.B) {
		base := b.TempDir()
		for _, version := range versions {
			must(b, copyRepository(source, filepath.Join(base, "source-"+version)))
		}
		for i := 0; b.Loop(); i++ {
			together(b, versions, func(version string) error {
				_, err := git(filepath.Join(base, "source-"+version), "worktree", "add", "-q", "--detach", filepath.Join(base, fmt.Sprint(i), version), version)
				return err
			})
		}
	}
}

// together calls work for all versions at once.
func together(b *testing.B, versions []string, work func(version string) error) {
	if len(versions) == 1 {
		must(b, work(versions[0]))
		return
	}
	var all sync.WaitGroup
	for _, version := range versions {
		all.Go(func() {
			if err := work(version); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
}

// reusing opens the repository and requests a checkout that exists already.
func reusing(source string) func(b *testing.B) {
	return func(b *testing.B) {
		destination := filepath.Join(b.TempDir(), "one")
		reuse := func() vcs.Checkout {
			repository, err := vcs.Open(source)
			must(b, err)
			checkout, err := repository.Checkout(b.Context(), large.last(), destination, vcs.Worktree)
			must(b, err)
			must(b, repository.Close())
			return checkout
		}
		reuse()
		for b.Loop() {
			if !reuse().Reused {
				b.Fatal("it was made again")
			}
		}
	}
}

func askingForHead(source string) func(b *testing.B) {
	return func(b *testing.B) {
		base := b.TempDir()
		copied, destination := filepath.Join(base, "source"), filepath.Join(base, "one")
		must(b, copyRepository(source, copied))
		_, err := git(copied, "worktree", "add", "-q", "--detach", destination, large.last())
		must(b, err)
		for b.Loop() {
			_, err := git(destination, "rev-parse", "HEAD")
			must(b, err)
		}
	}
}

// listing opens the repository and lists its references.
func listing(source string) func(b *testing.B) {
	return func(b *testing.B) {
		for b.Loop() {
			repository, err := vcs.Open(source)
			must(b, err)
			refs, err := repository.Refs(b.Context())
			must(b, err)
			must(b, repository.Close())
			if len(refs) != crowded.tags+1 {
				b.Fatal(len(refs), "references")
			}
		}
	}
}

func askingForRefs(source string) func(b *testing.B) {
	return func(b *testing.B) {
		for b.Loop() {
			out, err := git(source, "for-each-ref")
			must(b, err)
			if len(lines(out)) != crowded.tags+1 {
				b.Fatal(out)
			}
		}
	}
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
