package build

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/envtest/internal/filelock"
)

func TestBinaryIsBuiltOnce(t *testing.T) {
	w := newWorkshop(t)
	var progress bytes.Buffer
	w.Progress = &progress
	path, err := w.Binary(t.Context())
	require.NoError(t, err)
	assert.Equal(t, w.Cache, filepath.Dir(filepath.Dir(path)), "in a folder of the cache that has the hash's name")
	output, err := exec.Command(path).Output()
	require.NoError(t, err)
	assert.Equal(t, "built\n", string(output))
	assert.Equal(t, []string{"|0|-trimpath '-ldflags=-s -w'|build -v -o " + filepath.Dir(path) + "/.devcluster-new ."},
		w.asked(t, "build"), "compiled as the source folder says, beside its place")
	assert.Contains(t, progress.String(), "devcluster: building "+path)
	assert.Regexp(t, `devcluster: compiling  25% \(1/4\) \d+s example/b\n`, progress.String(), "what is late in the list may come first")
	assert.Regexp(t, `devcluster: compiling  75% \(3/4\) \d+s example/main\n`, progress.String(), "one was cached")
	assert.Contains(t, progress.String(), "devcluster: built "+path)

	progress.Reset()
	again, err := w.Binary(t.Context())
	require.NoError(t, err)
	assert.Equal(t, path, again)
	assert.Len(t, w.asked(t, "build"), 1)
	assert.Empty(t, progress.String(), "nothing to say")

	write(t, filepath.Join(w.Source, "main.go"), "package main\n", 0o644)
	changed, err := w.Binary(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, path, changed, "another source is another program")
	assert.Len(t, w.asked(t, "build"), 2)
}

func TestBinaryIsBuiltOnceForAllWhoAsk(t *testing.T) {
	w := newWorkshop(t)
	goOn := filepath.Join(t.TempDir(), "go-on")
	w.set("FAKE_BUILD=waiting")
	w.set("FAKE_GO_ON=" + goOn)
	var group sync.WaitGroup
	progress := make([]told, 5)
	for i := range progress {
		group.Go(func() {
			b := w.Builder
			b.Progress = &progress[i]
			_, err := b.Binary(t.Context())
			assert.NoError(t, err)
		})
	}
	waited := func() (lines int) {
		for i := range progress {
			lines += strings.Count(progress[i].String(), "devcluster: waiting for process ")
		}
		return lines
	}
	assert.Eventually(t, func() bool { return waited() >= len(progress)-1 }, time.Minute, 10*time.Millisecond, "whoever waits says so")
	write(t, goOn, "", 0o644)
	group.Wait()
	assert.Len(t, w.asked(t, "build"), 1)
	assert.Equal(t, len(progress)-1, waited(), "once")
}

// told is what a builder shows while others look at it.
type told struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *told) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(text)
}

func (w *told) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func TestBinaryThatDoesNotCompile(t *testing.T) {
	w := newWorkshop(t)
	w.set("FAKE_BUILD=broken")
	_, err := w.Binary(t.Context())
	require.EqualError(t, err, "devcluster build: go build in "+w.Source+": exit status 1\n# example/b\nb.go:1:1: no such thing",
		"what the compiler said, without the progress")
	assert.Equal(t, []string{"lock"}, names(t, w.Cache))
	held, err := filelock.Held(filepath.Join(w.Cache, "lock"))
	require.NoError(t, err)
	assert.False(t, held, "the next one may try")
}

func TestBinaryEndsWithItsContext(t *testing.T) {
	w := newWorkshop(t)
	w.set("FAKE_BUILD=hang")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for range 500 {
			if text, _ := os.ReadFile(w.log); strings.Contains(string(text), "started") {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	began := time.Now()
	_, err := w.Binary(ctx)
	require.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "devcluster build: go build: ")
	assert.Less(t, time.Since(began), killDelay+5*time.Second)
}

func TestBinaryWithoutBuildFlags(t *testing.T) {
	w := newWorkshop(t)
	require.NoError(t, os.Remove(filepath.Join(w.Source, "build.env")))
	_, err := w.Binary(t.Context())
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "devcluster source: build settings: ")
}

func TestBinaryFetchesModules(t *testing.T) {
	w := newWorkshop(t)
	w.set("FAKE_MODULES=absent")
	_, err := w.Binary(t.Context())
	require.NoError(t, err)
	assert.Len(t, w.asked(t, "list -m -versions k8s.io/kubernetes@v1.36.3"), 1, "the proxy is asked before the work begins")
	lists := w.asked(t, "list -deps")
	require.Len(t, lists, 2)
	assert.True(t, strings.HasPrefix(lists[0], "off|"), "first what is here: %s", lists[0])
	assert.True(t, strings.HasPrefix(lists[1], "|"), "then with the proxy: %s", lists[1])
}
