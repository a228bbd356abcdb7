package vcs

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// soakVariable asks for many moments.
	soakVariable = "OPERKIT_SOAK"
	// seedVariable repeats the moments of an earlier run.
	seedVariable = "OPERKIT_SOAK_SEED"
)

// moments are how often a process is killed, and the chance by which it is decided when.
func moments(t *testing.T) (count int, random *rand.Rand) {
	t.Helper()
	count, seed := 6, uint64(1)
	if os.Getenv(soakVariable) != "" {
		count, seed = 50, uint64(time.Now().UnixNano())
	}
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("SOAK vcs: %d moments of the seed %d", count, seed)
	return count, rand.New(rand.NewPCG(seed, seed))
}

// heavy is a repository with two versions of many files.
func heavy(t *testing.T) (g *gitRepository, commits map[string]Commit) {
	t.Helper()
	g = newGit(t)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 300 {
		var text strings.Builder
		for range 200 {
			fmt.Fprintf(&text, "line %d\n", random.IntN(1_000_000))
		}
		g.write(fmt.Sprintf("folder-%d/%d.yaml", i%17, i), text.String(), 0o644)
	}
	commits = map[string]Commit{}
	for _, version := range []string{"1.0.0", "2.0.0"} {
		g.write("version", version, 0o644)
		commits[version] = g.commit(version)
		g.git("tag", version)
	}
	g.git("gc", "-q")
	return g, commits
}

// halves are the folders in which the one of a path is being made.
func halves(path string) []string {
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), temporary(path)+"*")) // the pattern is a good one
	return found
}

// until waits until something is so, or a process is given up on.
func until(t *testing.T, is func() bool) {
	t.Helper()
	require.Eventually(t, is, time.Minute, 100*time.Microsecond)
}

// lasts is how long it takes, if nobody disturbs a process, until it begins to make a folder, and from then on until that is there.
func lasts(t *testing.T, j task, path string) (before, within time.Duration) {
	t.Helper()
	p := start(t, j)
	begun := time.Now()
	require.NoError(t, p.begin())
	until(t, func() bool { return len(halves(path)) > 0 || exists(path) })
	before = time.Since(begun)
	until(t, func() bool { return exists(path) })
	within = time.Since(begun) - before
	_, err := p.wait()
	require.NoError(t, err)
	return before, within
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// killer kills processes at moments that chance decides: one of three at any time, the others while they make a folder.
type killer struct {
	random         *rand.Rand
	before, within time.Duration
	// inside is how many were killed while they made it.
	inside int
}

// kill has a process do a task that makes a folder, and kills it. It returns when that was.
func (k *killer) kill(t *testing.T, j task, path string, moment int) string {
	t.Helper()
	p := start(t, j)
	require.NoError(t, p.begin())
	after := time.Duration(k.random.Int64N(int64(k.before + k.within)))
	when := fmt.Sprintf("killed after %s", after)
	if moment%3 > 0 {
		after = time.Duration(k.random.Int64N(int64(k.within)))
		when = fmt.Sprintf("killed %s after it began to make the folder", after)
		until(t, func() bool { return len(halves(path)) > 0 || exists(path) })
	}
	time.Sleep(after)
	_ = p.Process.Kill() // it may have ended
	_, _ = p.wait()
	if len(halves(path)) > 0 {
		k.inside++
	}
	return when
}

// watch looks at a path all the time until stop is called, which has it look once more and tells how often something was there.
func watch(path string, look func()) (stop func() (seen int)) {
	var watching sync.WaitGroup
	done, seen := make(chan struct{}), 0
	watching.Go(func() {
		for last := false; !last; time.Sleep(100 * time.Microsecond) {
			select {
			case <-done:
				last = true
			default:
			}
			if exists(path) {
				seen++
				look()
			}
		}
	})
	return func() int {
		close(done)
		watching.Wait()
		return seen
	}
}

// left are the names in the folder of a path.
func left(t *testing.T, path string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestKilledCheckout(t *testing.T) {
	t.Parallel()
	g, commits := heavy(t)
	r := g.open()
	want := g.worktree(commits["2.0.0"])
	count, random := moments(t)
	for _, method := range []Method{Worktree, Clone} {
		base := t.TempDir()
		path := filepath.Join(base, "0", "2.0.0")
		j := task{Source: g.dir, Base: base, Versions: []string{"2.0.0"}, Rounds: 1, Method: method}
		k := killer{random: random}
		k.before, k.within = lasts(t, j, path)
		for moment := range count {
			require.NoError(t, removeAll(filepath.Dir(path)))
			j.ReadOnly = moment%2 == 0
			stop := watch(path, func() {
				if got := files(t, path); !maps.Equal(want, got) {
					assert.Equal(t, want, got, "%s: a reader sees half of it", method)
				}
			})
			when := k.kill(t, j, path, moment)
			got, err := r.Checkout(t.Context(), "2.0.0", path, method)
			require.NoError(t, err, "%s, %s", method, when)
			assert.Equal(t, commits["2.0.0"], got.Commit)
			assert.Positive(t, stop(), "a reader has seen all of it")
			require.NoError(t, r.Verify(t.Context(), path))
			assert.Equal(t, []string{".2.0.0.lock", "2.0.0"}, left(t, path), "%s, %s: nothing is left", method, when)
		}
		t.Logf("SOAK vcs: %s: %d of %d killed while they made the folder", method, k.inside, count)
		require.NoError(t, removeAll(filepath.Dir(path)))
	}
}

func TestKilledSetup(t *testing.T) {
	t.Parallel()
	g, _ := heavy(t)
	count, random := moments(t)
	path := filepath.Join(t.TempDir(), "versions")
	j := task{Source: g.dir, Setup: path, Versions: []string{"1.0.0"}}
	k := killer{random: random}
	k.before, k.within = lasts(t, j, path)
	for moment := range count {
		// What is there before is complete, and has another version, or there is nothing.
		version := []string{"1.0.0", "2.0.0"}[moment%2]
		j.Versions = []string{version}
		if moment%4 < 2 {
			require.NoError(t, removeAll(path))
		}
		stop := watch(path, func() {
			before, err := os.Lstat(path)
			if err != nil {
				return
			}
			names, err := allOf(t, path)
			// What was there before goes while it is read, when the new one is there.
			if now, goneErr := os.Lstat(path); goneErr == nil && os.SameFile(before, now) {
				assert.NoError(t, err, "a reader sees half of it")
				assert.Contains(t, []string{"1.0.0", "2.0.0"}, names, "a reader sees half of it")
			}
		})
		when := k.kill(t, j, path, moment)
		_, err := Setup(t.Context(), j.setup())
		require.NoError(t, err, when)
		assert.Positive(t, stop(), "a reader has seen all of it")
		names, err := allOf(t, path)
		require.NoError(t, err)
		assert.Equal(t, version, names)
		assert.Empty(t, (&gitRepository{t, path}).git("fsck", "--strict", "--no-dangling"))
		assert.Equal(t, []string{"versions"}, left(t, path), "%s: nothing is left", when)
	}
	t.Logf("SOAK vcs: setup: %d of %d killed while they made the folder", k.inside, count)
}

// allOf reads all that a repository has, and returns the names of its references.
func allOf(t *testing.T, path string) (names string, err error) {
	r, err := Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	refs, err := r.Refs(t.Context())
	for _, ref := range refs {
		names += ref.Name
		info, commitErr := r.commit(ref.Commit)
		if err = errors.Join(err, commitErr); err == nil {
			err = readAll(r, info.tree)
		}
	}
	return names, err
}

// readAll reads a tree and all that is below it.
func readAll(r *Repository, tree plumbing.Hash) error {
	entries, err := r.tree(tree)
	for _, e := range entries {
		if err != nil {
			break
		}
		if e.mode == modeFolder {
			err = readAll(r, e.hash)
		} else {
			_, err = r.object(e.hash)
		}
	}
	return err
}
