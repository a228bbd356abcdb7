package vcs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// jobVariable has a process of this package's tests do a job and nothing else.
const jobVariable = "OPERKIT_VCS_JOB"

// task is what such a process does.
type task struct {
	// Source is where versions are from: they are checked out, in each of Rounds into a folder below Base of its own, or set up, if Setup says where.
	Source, Base, Setup string
	Versions            []string
	Rounds              int
	Method              Method
	ReadOnly            bool
}

// runJob does a job, once it is told to by a byte, and says what it has made.
func runJob(text string) int {
	var j task
	err := json.Unmarshal([]byte(text), &j)
	if err == nil {
		fmt.Println("ready")
		_, err = io.ReadFull(os.Stdin, make([]byte, 1))
	}
	if err == nil {
		err = j.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("done")
	return 0
}

func (j task) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if j.Setup != "" {
		_, err := Setup(ctx, j.setup())
		return err
	}
	r, err := Open(j.Source)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	options := []CheckoutOption{}
	if j.ReadOnly {
		options = append(options, ReadOnly())
	}
	for round := range j.Rounds {
		for _, i := range rand.Perm(len(j.Versions)) {
			if err := j.checkout(ctx, r, filepath.Join(j.Base, fmt.Sprint(round), j.Versions[i]), j.Versions[i], options); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j task) setup() SetupOptions {
	return SetupOptions{Source: j.Source, Destination: j.Setup, Tags: j.Versions, Force: true, Verify: true}
}

// checkout checks a version out, by trying or by waiting, and looks at once whether it is there as a whole.
func (j task) checkout(ctx context.Context, r *Repository, path, version string, options []CheckoutOption) error {
	for {
		some := options
		if rand.IntN(2) == 0 {
			some = append(some, NoWait())
		}
		got, err := r.Checkout(ctx, version, path, j.Method, some...)
		var contention *ContentionError
		if errors.As(err, &contention) {
			time.Sleep(time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
		if !got.Reused {
			fmt.Println("made", path)
		}
		return r.Verify(ctx, path)
	}
}

// process is one that does a job.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// start starts a process, and returns when it is ready for its job.
func start(t *testing.T, j task) *process {
	t.Helper()
	text, err := json.Marshal(j)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	p := &process{Cmd: exec.Command(self, "-test.run=^$")}
	p.Env = append(os.Environ(), jobVariable+"="+string(text))
	p.Stderr = os.Stderr
	p.in, err = p.StdinPipe()
	require.NoError(t, err)
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewScanner(out)
	require.NoError(t, p.Start())
	require.True(t, p.out.Scan())
	require.Equal(t, "ready", p.out.Text())
	return p
}

// begin has it begin.
func (p *process) begin() error {
	_, err := p.in.Write([]byte("\n"))
	return err
}

// wait waits until it ends, and returns what it has said.
func (p *process) wait() (said []string, err error) {
	for p.out.Scan() {
		said = append(said, p.out.Text())
	}
	return said, p.Wait()
}

// TestProcesses has several processes check the same versions out to the same places, again and again.
func TestProcesses(t *testing.T) {
	t.Parallel()
	const processes, rounds = 8, 50
	g, commits := several(t)
	base := t.TempDir()
	j := task{Source: g.dir, Base: base, Rounds: rounds, Method: Worktree}
	want := map[string]map[string]string{}
	for version, commit := range commits {
		j.Versions = append(j.Versions, version)
		want[version] = g.worktree(commit)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	made := map[string]int{}
	started := make([]*process, processes)
	for i := range started {
		started[i] = start(t, j)
	}
	for _, p := range started {
		all.Go(func() {
			err := p.begin()
			assert.NoError(t, err)
			said, err := p.wait()
			assert.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			for _, line := range said {
				made[line]++
			}
		})
	}
	all.Wait()
	assert.Equal(t, processes, made["done"])
	for round := range rounds {
		for version := range commits {
			path := filepath.Join(base, fmt.Sprint(round), version)
			assert.Equal(t, 1, made["made "+path], "%s is made once", path)
			assert.Equal(t, want[version], files(t, path), "as git makes it")
		}
	}
}

// several is a repository with four versions.
func several(t *testing.T) (g *gitRepository, commits map[string]Commit) {
	t.Helper()
	g, first, second := released(t)
	commits = map[string]Commit{"1.0.0": first, "1.1.0": second}
	for i, version := range []string{"1.2.0", "1.3.0"} {
		g.write(fmt.Sprintf("templates/%d/a.yaml", i), fmt.Sprint("a: ", i), 0o644)
		g.write("README.md", version, 0o644)
		commits[version] = g.commit(version)
		g.git("tag", version)
	}
	return g, commits
}
