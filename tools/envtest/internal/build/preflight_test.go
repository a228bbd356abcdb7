package build

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPreflightSaysAtOnceWhatIsMissing(t *testing.T) {
	const (
		oldGo  = `Go 1.26.0 or newer: the go command in PATH is go1.25.1; install a newer Go or set GOTOOLCHAIN=auto (now "local")`
		proxy  = `module proxy: GOPROXY=https://proxy.example doesn't provide k8s.io/kubernetes@v1.36.3, and the module cache /modules lacks needed modules; set GOPROXY to a proxy that does: go: k8s.io/kubernetes: dial tcp: connection refused`
		memory = `memory: 2.5 GB are needed, 1.0 GB are free; end other programs or build on a bigger machine`
	)
	all := func(w *workshop) string {
		return `disk: 6.0 GB are needed for GOMODCACHE /modules and GOCACHE /build and XDG_CACHE_HOME ` + w.Cache +
			`, 2.0 GB are free; free some space or point the variable to another disk`
	}
	tests := map[string]struct {
		reason  string
		arrange func(w *workshop)
		want    func(w *workshop) []string
	}{
		"nothing": {"a machine that can", func(*workshop) {}, nil},
		"all of it": {"one message has everything",
			func(w *workshop) {
				w.set("FAKE_VERSION=go1.25.1")
				w.set("FAKE_MODULES=absent")
				w.set("FAKE_PROXY=down")
				w.Machine = machine{disk: 2 * gigabyte, memory: gigabyte}
			},
			func(w *workshop) []string { return []string{oldGo, proxy, all(w), memory} }},
		"no proxy needed": {"the modules are here, so nobody asks the proxy and they need no room",
			func(w *workshop) {
				w.set("FAKE_PROXY=down")
				w.Machine = machine{disk: 4 * gigabyte, memory: 8 * gigabyte}
			},
			func(w *workshop) []string {
				return []string{`disk: 4.5 GB are needed for GOCACHE /build and XDG_CACHE_HOME ` + w.Cache + `, 4.0 GB are free; free some space or point the variable to another disk`}
			}},
		"newer Go": {"any newer one will do", func(w *workshop) { w.set("FAKE_VERSION=go1.27rc1") }, nil},
		"a Go of its own making": {"a version that can't be compared is let through",
			func(w *workshop) { w.set("FAKE_VERSION=devel go1.99-abcdef") }, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t)
			test.arrange(w)
			_, err := w.Binary(t.Context())
			if test.want == nil {
				require.NoError(t, err, test.reason)
				return
			}
			var missing *PreflightError
			require.ErrorAs(t, err, &missing, test.reason)
			assert.Equal(t, test.want(w), missing.Missing, test.reason)
			assert.Empty(t, w.asked(t, "build"), "nothing is built then")
			assert.Equal(t, []string{"lock"}, names(t, w.Cache), "and nothing is left")
		})
	}
}

func TestPreflightWithoutGo(t *testing.T) {
	w := newWorkshop(t)
	t.Setenv("PATH", t.TempDir())
	w.Machine = machine{disk: gigabyte, memory: gigabyte}
	_, err := w.Binary(t.Context())
	require.EqualError(t, err, `devcluster can't be built here, 2 things are missing:
- Go 1.26.0 or newer: there is no go command in PATH; install Go
- memory: 2.5 GB are needed, 1.0 GB are free; end other programs or build on a bigger machine`)
}

func TestPreflightErrorOfOneThing(t *testing.T) {
	t.Parallel()
	err := &PreflightError{Missing: []string{"memory: none"}}
	assert.EqualError(t, err, "devcluster can't be built here, something is missing:\n- memory: none")
}

func TestHostTellsWhatItHas(t *testing.T) {
	t.Parallel()
	free, volume, ok := Host{}.FreeDisk(t.TempDir())
	assert.True(t, ok)
	assert.Positive(t, free)
	_, same, _ := Host{}.FreeDisk(t.TempDir())
	assert.Equal(t, volume, same, "one file system")
	_, _, ok = Host{}.FreeDisk("/no/such/folder")
	assert.False(t, ok)
	memory, ok := Host{}.FreeMemory()
	assert.True(t, ok)
	assert.Positive(t, memory)
}

func TestGroupMemoryIsLimitLessUse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, limit, used, stat string
		want                      uint64
		known                     bool
	}{
		"limited":      {"what is in files' caches can be had", "1000\n", "700\n", "anon 1\nfile 300\n", 600, true},
		"used up":      {"never below nothing", "1000\n", "1200\n", "file 0\n", 0, true},
		"without one":  {"no limit is no number", "max\n", "700\n", "file 300\n", 0, false},
		"not readable": {"another system", "", "", "", 0, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if test.limit != "" {
				write(t, filepath.Join(dir, "memory.max"), test.limit, 0o600)
				write(t, filepath.Join(dir, "memory.current"), test.used, 0o600)
				write(t, filepath.Join(dir, "memory.stat"), test.stat, 0o600)
			}
			got, known := groupMemory(dir)
			assert.Equal(t, test.known, known, test.reason)
			assert.Equal(t, test.want, got, test.reason)
		})
	}
}

func TestModFileNeedsAGoLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := readModFile(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	write(t, filepath.Join(dir, "go.mod"), "module x\n", 0o600)
	_, err = readModFile(dir)
	require.Error(t, err)
	assert.False(t, errors.Is(err, os.ErrNotExist))

	write(t, filepath.Join(dir, "go.mod"), "module x // comment\ngo 1.26.0\nrequire a.example/b v1.0.0 // indirect\nreplace (\n\tc.example => d.example v1.0.0\n)\nexclude e.example v1.0.0\n", 0o600)
	mod, err := readModFile(dir)
	require.NoError(t, err)
	assert.Equal(t, modFile{goVersion: "1.26.0", requires: []string{"a.example/b@v1.0.0"}}, mod)
	assert.Equal(t, "a.example/b@v1.0.0", mod.probe())
}
