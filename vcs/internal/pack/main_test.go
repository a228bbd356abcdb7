package pack

import (
	"bytes"
	"compress/zlib"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// git runs git in a folder.
func git(t testing.TB, folder, in string, args ...string) string {
	t.Helper()
	command := exec.Command("git", append([]string{"-C", folder}, args...)...)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com")
	command.Stdin = strings.NewReader(in)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	require.NoError(t, err, "git %s: %s", strings.Join(args, " "), stderr.String())
	return string(out)
}

// opened opens a pack and its index until the test ends.
func opened(t testing.TB, path string) *Pack {
	t.Helper()
	p, err := open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func open(path string) (*Pack, error) {
	index, err := os.Open(path + ".idx")
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path + ".pack")
	if err != nil {
		return nil, errors.Join(err, index.Close())
	}
	return Open(file, index)
}

// raw is an object as it stands in a pack that is made by hand.
type raw struct {
	name plumbing.Hash
	head []byte
	body []byte
}

func name(i byte) plumbing.Hash { return plumbing.Hash{i, 1: 7} }

func deflated(text []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write(text)
	_ = w.Close()
	return out.Bytes()
}

// byHand writes a pack of objects and its index, whatever they are.
func byHand(t testing.TB, objects ...raw) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pack")
	file, err := os.Create(path + ".pack")
	require.NoError(t, err)
	w, err := NewWriter(file, len(objects))
	require.NoError(t, err)
	for _, one := range objects {
		require.NoError(t, w.object(one.name, written{}, one.head, func() error { return w.write(one.body) }))
	}
	sum, err := w.Finish()
	require.NoError(t, err)
	index, err := os.Create(path + ".idx")
	require.NoError(t, err)
	require.NoError(t, errors.Join(w.WriteIndex(index, sum), index.Close(), file.Close()))
	return path
}
