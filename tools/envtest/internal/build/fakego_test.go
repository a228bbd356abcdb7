package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeGo is a go command that answers as its environment says and writes down what it was asked.
const fakeGo = `#!/bin/sh
echo "$GOPROXY|$CGO_ENABLED|$GOFLAGS|$*" >> "$FAKE_LOG"
case "$1 $2" in
"env GOVERSION") echo "$FAKE_VERSION" ;;
"env -json") echo '{"GOVERSION":"'$FAKE_VERSION'","GOTOOLCHAIN":"local","GOPROXY":"https://proxy.example","GOCACHE":"/build","GOMODCACHE":"/modules"}' ;;
"list -deps")
	if [ "$GOPROXY" = off ] && [ "$FAKE_MODULES" = absent ]; then echo "go: module lookup disabled by GOPROXY=off" >&2; exit 1; fi
	if [ "$FAKE_MODULES" = absent ]; then echo "go: downloading k8s.io/kubernetes v1.36.3" >&2; fi
	printf 'runtime\nexample/a\nexample/b\nexample/main\n' ;;
"list -m")
	case "$FAKE_PROXY" in
	hang) exec sleep 60 ;;
	down) echo "go: k8s.io/kubernetes: dial tcp: connection refused" >&2; exit 1 ;;
	esac ;;
"build -v")
	case "$FAKE_BUILD" in
	hang) echo example/a >&2; echo started >> "$FAKE_LOG"; exec sleep 60 ;;
	broken) printf 'example/a\n# example/b\nb.go:1:1: no such thing\n' >&2; exit 1 ;;
	waiting) until [ -e "$FAKE_GO_ON" ]; do sleep 0.01; done ;;
	esac
	printf 'example/b\nexample/a\nexample/b\nexample/main\n' >&2
	printf '#!/bin/sh\necho built\n' > "$4"; chmod +x "$4" ;;
*) echo "fake go: $*" >&2; exit 2 ;;
esac
`

// workshop is a folder with a source, a cache, and a fake go command in PATH.
type workshop struct {
	Builder
	log string
}

// newWorkshop sets variables of the environment, so its test can't be parallel.
func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	dir := t.TempDir()
	w := &workshop{log: filepath.Join(dir, "log")}
	w.Source, w.Cache = filepath.Join(dir, "source"), filepath.Join(dir, "cache")
	w.Machine = machine{disk: 100 * gigabyte, memory: 8 * gigabyte}
	write(t, filepath.Join(dir, "bin", "go"), fakeGo, 0o755)
	write(t, filepath.Join(w.Source, "go.mod"), "module "+Module+"\n\ngo 1.26.0\n\nrequire (\n\texample.invalid/other v1.0.0\n\tk8s.io/kubernetes v1.36.3\n)\n", 0o644)
	write(t, filepath.Join(w.Source, "build.env"), "# how it is compiled\nCGO_ENABLED=0\nGOFLAGS=\"-trimpath '-ldflags=-s -w'\"\n", 0o644)
	t.Setenv("PATH", filepath.Join(dir, "bin")+":/usr/bin:/bin")
	require.NoError(t, os.MkdirAll(w.Cache, 0o755))
	w.set("FAKE_LOG=" + w.log)
	w.set("FAKE_VERSION=go1.26.8")
	w.set("PATH=" + os.Getenv("PATH"))
	return w
}

func (w *workshop) set(variable string) { w.Environ = append(w.Environ, variable) }

// asked returns the arguments of the go commands that begin with these words.
func (w *workshop) asked(t *testing.T, words string) []string {
	t.Helper()
	text, err := os.ReadFile(w.log)
	require.NoError(t, err)
	var commands []string
	for line := range strings.Lines(string(text)) {
		if fields := strings.SplitN(strings.TrimSpace(line), "|", 4); len(fields) == 4 && strings.HasPrefix(fields[3], words) {
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	return commands
}

// machine is one that says what it is told.
type machine struct {
	disk, memory uint64
}

func (m machine) FreeDisk(string) (bytes, volume uint64, ok bool) { return m.disk, 1, true }
func (m machine) FreeMemory() (bytes uint64, ok bool)             { return m.memory, true }

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), mode))
}
